//! Bookings in a D1 database. `migrations/` creates the table.

use async_trait::async_trait;
use worker::{D1Database, D1Type};

use crate::bookings::{Booking, Bookings};

pub struct D1Bookings(pub D1Database);

#[async_trait(?Send)]
impl Bookings for D1Bookings {
    async fn of_day(&self, date: &str) -> worker::Result<Vec<Booking>> {
        let query = "SELECT date, desk, person FROM bookings WHERE date = ?1 ORDER BY desk";
        let statement = self.0.prepare(query).bind_refs(&D1Type::Text(date))?;
        statement.all().await?.results()
    }

    async fn add(&self, booking: &Booking) -> worker::Result<bool> {
        // One statement checks and writes, so two callers cannot book the same desk on the same day.
        let query = "INSERT INTO bookings (date, desk, person) VALUES (?1, ?2, ?3)
            ON CONFLICT DO NOTHING RETURNING desk";
        let Booking { date, desk, person } = booking;
        let values = [D1Type::Text(date), D1Type::Real(f64::from(*desk)), D1Type::Text(person)];
        let statement = self.0.prepare(query).bind_refs(&values)?;
        let added: Option<u32> = statement.first(Some("desk")).await?;
        Ok(added.is_some())
    }
}
