-- One booking per desk and day. The primary key rejects a second one.
CREATE TABLE bookings (
  date TEXT NOT NULL,
  desk INTEGER NOT NULL,
  person TEXT NOT NULL,
  PRIMARY KEY (date, desk)
);
