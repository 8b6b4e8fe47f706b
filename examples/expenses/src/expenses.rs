//! Expenses, and the SQL that reads and writes them. `migrations/` creates their table.

use edge_mcp::storage::Database;
use edge_mcp::{Context, HandlerError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// With this scope, a caller sees the expenses of all callers.
pub const SEES_ALL: &str = "expenses:all";

/// The number of expenses on a page of a list.
pub const PAGE: usize = 20;

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    Travel,
    Meals,
    Equipment,
}

#[derive(Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Open,
    Approved,
    Rejected,
}

impl Category {
    pub fn name(self) -> &'static str {
        match self {
            Self::Travel => "travel",
            Self::Meals => "meals",
            Self::Equipment => "equipment",
        }
    }
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
        }
    }
}

/// An expense that is not stored yet. These limits are part of the published schema.
#[derive(Deserialize, JsonSchema)]
pub struct NewExpense {
    /// The amount in cents of the currency
    #[schemars(range(min = 1, max = 1_000_000))]
    cents: u32,
    /// The currency as three letters, such as EUR
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    currency: String,
    /// The kind of the purchase
    category: Category,
    /// The purpose of the expense
    #[schemars(length(max = 500))]
    note: String,
    /// The day, such as 2026-12-24. The default is today
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    date: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Expense {
    /// The number of the expense
    pub id: u64,
    /// The person who submitted it
    pub caller: String,
    /// The amount in cents of the currency
    pub cents: u32,
    /// The currency, such as EUR
    pub currency: String,
    /// The kind of the purchase
    pub category: Category,
    /// The purpose of the expense
    pub note: String,
    /// The day of the expense
    pub date: String,
    /// Whether somebody has decided about it
    pub status: Status,
    /// Why it was approved or rejected
    pub reason: Option<String>,
}

impl Expense {
    /// Returns the amount as a text, such as `12.50 EUR`.
    pub fn amount(&self) -> String {
        format!("{}.{:02} {}", self.cents / 100, self.cents % 100, self.currency)
    }
}

/// Stores an expense of the caller. Returns `None` if its date is not a day, or is in the future.
pub async fn add(new: NewExpense, cx: &Context) -> Result<Option<Expense>, HandlerError> {
    // `date` returns another text for a day that does not exist, such as 2026-02-31.
    let insert = "INSERT INTO expenses (caller, cents, currency, category, note, date, created)
        SELECT ?1, ?2, ?3, ?4, ?5, coalesce(?6, date(?7, 'unixepoch')), ?7
        WHERE ?6 IS NULL OR (date(?6) = ?6 AND ?6 <= date(?7, 'unixepoch')) RETURNING *";
    let NewExpense { cents, currency, category, note, date } = new;
    let insert = cx.state::<Database>()?.query(insert).bind(&cx.caller()?.subject).bind(cents).bind(currency);
    Ok(insert.bind(category.name()).bind(note).bind(date).bind(cx.now_ms() / 1000).first().await?)
}

/// Returns a page of the expenses that the caller sees, the newest first. It begins after the expense with the number `before`.
pub async fn list(status: Option<Status>, before: Option<u64>, cx: &Context) -> Result<Vec<Expense>, HandlerError> {
    let select = "SELECT * FROM expenses WHERE (?1 IS NULL OR caller = ?1) AND (?2 IS NULL OR status = ?2)
        AND (?3 IS NULL OR id < ?3) ORDER BY id DESC LIMIT ?4";
    let select = cx.state::<Database>()?.query(select).bind(visible(cx)?).bind(status.map(Status::name)).bind(before);
    Ok(select.bind(PAGE).all().await?)
}

/// Returns an expense that the caller sees.
pub async fn find(id: u64, cx: &Context) -> Result<Expense, HandlerError> {
    let select = "SELECT * FROM expenses WHERE id = ?1 AND (?2 IS NULL OR caller = ?2)";
    let found = cx.state::<Database>()?.query(select).bind(id).bind(visible(cx)?).first().await?;
    found.ok_or_else(|| HandlerError::not_found("There is no expense with this number. Call list-expenses."))
}

/// Returns the expenses of a month that the caller sees, the oldest first.
pub async fn of_month(month: &str, cx: &Context) -> Result<Vec<Expense>, HandlerError> {
    let select = "SELECT * FROM expenses WHERE date BETWEEN ?1 || '-01' AND ?1 || '-31'
        AND (?2 IS NULL OR caller = ?2) ORDER BY date, id";
    Ok(cx.state::<Database>()?.query(select).bind(month).bind(visible(cx)?).all().await?)
}

/// Returns the months with expenses that the caller sees, the newest first. Only months that begin with `typed`.
pub async fn months(typed: &str, cx: &Context) -> Result<Vec<String>, HandlerError> {
    let select = "SELECT DISTINCT substr(date, 1, 7) AS month FROM expenses
        WHERE (?1 IS NULL OR caller = ?1) AND substr(date, 1, length(?2)) = ?2 ORDER BY month DESC LIMIT 100";
    Ok(cx.state::<Database>()?.query(select).bind(visible(cx)?).bind(typed).all().await?)
}

/// Stores the decision about an open expense of another caller. Returns `None` if there is no such expense.
pub async fn decide(id: u64, status: Status, reason: &str, cx: &Context) -> Result<Option<Expense>, HandlerError> {
    // One statement checks and writes, so an expense cannot be decided twice.
    let update = "UPDATE expenses SET status = ?2, reason = ?3
        WHERE id = ?1 AND status = 'open' AND caller <> ?4 RETURNING *";
    let update = cx.state::<Database>()?.query(update).bind(id).bind(status.name()).bind(reason);
    Ok(update.bind(&cx.caller()?.subject).first().await?)
}

/// Returns the only caller whose expenses the caller of this call sees, or `None` for all callers.
fn visible(cx: &Context) -> Result<Option<&str>, HandlerError> {
    let caller = cx.caller()?;
    Ok((!caller.has_scope(SEES_ALL)).then_some(caller.subject.as_str()))
}
