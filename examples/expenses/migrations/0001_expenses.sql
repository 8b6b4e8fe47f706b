CREATE TABLE expenses (
  id INTEGER PRIMARY KEY,
  -- The subject of the caller's token. All tokens are from one issuer, so the subject is unique.
  caller TEXT NOT NULL,
  cents INTEGER NOT NULL,
  currency TEXT NOT NULL,
  category TEXT NOT NULL,
  note TEXT NOT NULL,
  date TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'open',
  -- Why the expense was approved or rejected.
  reason TEXT,
  -- In seconds since 1970.
  created INTEGER NOT NULL
);

CREATE INDEX expenses_by_caller ON expenses (caller, id);
CREATE INDEX expenses_by_date ON expenses (date);
