//! Storage: expenses in D1, and exchange rates in KV.

use std::time::Duration;

use edge_mcp::storage::{Database, DatabaseError, KvError, KvStore};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Expense {
    pub text: String,
    pub euros: f64,
}

pub struct Store {
    pub db: Database,
    pub kv: KvStore,
}

impl Store {
    pub async fn add(&self, person: &str, expense: &Expense) -> Result<(), DatabaseError> {
        let insert = self.db.query("INSERT INTO expenses (person, text, euros) VALUES (?1, ?2, ?3)");
        insert.bind(person).bind(&expense.text).bind(expense.euros).run().await?;
        Ok(())
    }

    pub async fn of(&self, person: &str) -> Result<Vec<Expense>, DatabaseError> {
        let select = "SELECT text, euros FROM expenses WHERE person = ?1 ORDER BY rowid";
        self.db.query(select).bind(person).all().await
    }

    pub async fn clear(&self, person: &str) -> Result<(), DatabaseError> {
        self.db.query("DELETE FROM expenses WHERE person = ?1").bind(person).run().await?;
        Ok(())
    }

    pub async fn rate(&self, currency: &str) -> Result<Option<f64>, KvError> {
        self.kv.get_json(currency).await
    }

    pub async fn keep_rate(&self, currency: &str, rate: f64) -> Result<(), KvError> {
        self.kv.put_for(currency, rate.to_string(), Duration::from_hours(1)).await
    }
}
