CREATE TABLE expenses (
  person TEXT NOT NULL,
  text TEXT NOT NULL,
  euros REAL NOT NULL
);
CREATE INDEX expenses_of_person ON expenses (person);
