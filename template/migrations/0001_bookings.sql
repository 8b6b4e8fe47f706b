-- The primary key permits one booking per desk and day.
CREATE TABLE bookings (
  date TEXT NOT NULL,
  desk INTEGER NOT NULL,
  person TEXT NOT NULL,
  PRIMARY KEY (date, desk)
);
