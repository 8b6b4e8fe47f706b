//! Storage: expenses in D1, and exchange rates in KV.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use worker::{D1Database, D1Type, KvStore, Result};

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Expense {
    pub text: String,
    pub euros: f64,
}

/// Stores expenses and exchange rates. The tests implement this trait in memory.
#[async_trait(?Send)]
pub trait Store {
    async fn add(&self, person: &str, expense: &Expense) -> Result<()>;
    async fn of(&self, person: &str) -> Result<Vec<Expense>>;
    async fn clear(&self, person: &str) -> Result<()>;
    async fn rate(&self, currency: &str) -> Result<Option<f64>>;
    async fn keep_rate(&self, currency: &str, rate: f64) -> Result<()>;
}

pub struct CloudStore {
    pub db: D1Database,
    pub kv: KvStore,
}

#[async_trait(?Send)]
impl Store for CloudStore {
    async fn add(&self, person: &str, expense: &Expense) -> Result<()> {
        let values = [D1Type::Text(person), D1Type::Text(&expense.text), D1Type::Real(expense.euros)];
        self.db.prepare("INSERT INTO expenses VALUES (?1, ?2, ?3)").bind_refs(&values)?.run().await?;
        Ok(())
    }

    async fn of(&self, person: &str) -> Result<Vec<Expense>> {
        let query = self.db.prepare("SELECT text, euros FROM expenses WHERE person = ?1 ORDER BY rowid");
        query.bind_refs(&D1Type::Text(person))?.all().await?.results()
    }

    async fn clear(&self, person: &str) -> Result<()> {
        self.db.prepare("DELETE FROM expenses WHERE person = ?1").bind_refs(&D1Type::Text(person))?.run().await?;
        Ok(())
    }

    async fn rate(&self, currency: &str) -> Result<Option<f64>> {
        let rate = self.kv.get(currency).text().await?;
        Ok(rate.and_then(|rate| rate.parse().ok()))
    }

    async fn keep_rate(&self, currency: &str, rate: f64) -> Result<()> {
        Ok(self.kv.put(currency, rate.to_string())?.expiration_ttl(3600).execute().await?)
    }
}
