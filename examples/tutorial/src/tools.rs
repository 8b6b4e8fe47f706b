//! The tools.

use edge_mcp::{Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::App;
use crate::rates::rate;
use crate::store::Expense;

#[derive(Deserialize, JsonSchema)]
struct AddExpense {
    /// The item or service, such as Taxi
    #[schemars(length(min = 1, max = 200))]
    text: String,
    /// The price in the currency
    #[schemars(range(min = 0, max = 100_000))]
    amount: f64,
    /// The currency of the amount, such as USD
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    currency: String,
}

pub fn add_expense() -> Tool {
    let tool = Tool::new("add-expense", "Adds an expense of the caller.", add).title("Add an expense");
    tool.additive().open_world().scopes(["expenses:write"])
}

async fn add(AddExpense { text, amount, currency }: AddExpense, cx: Context) -> Result<Json<Expense>, HandlerError> {
    let rate = if currency == "EUR" { 1.0 } else { rate(&currency, &cx).await? };
    let expense = Expense { text, euros: (amount * rate * 100.0).round() / 100.0 };
    cx.state::<App>()?.store.add(&person(&cx)?, &expense).await?;
    Ok(Json(expense))
}

#[derive(Serialize, JsonSchema)]
struct Expenses {
    expenses: Vec<Expense>,
}

pub fn list_expenses() -> Tool {
    let tool = Tool::new("list-expenses", "Lists the expenses of the caller.", list).title("List expenses");
    tool.read_only().closed_world()
}

async fn list(cx: Context) -> Result<Json<Expenses>, HandlerError> {
    let expenses = cx.state::<App>()?.store.of(&person(&cx)?).await?;
    Ok(Json(Expenses { expenses }))
}

fn person(cx: &Context) -> Result<String, HandlerError> {
    Ok(cx.caller()?.subject.clone())
}

pub fn clear_expenses() -> Tool {
    let tool = Tool::new("clear-expenses", "Deletes all expenses of the caller.", clear).title("Delete all expenses");
    tool.destructive().closed_world().scopes(["expenses:write"])
}

async fn clear(cx: Context) -> Result<&'static str, HandlerError> {
    let (app, person) = (cx.state::<App>()?, person(&cx)?);
    let count = app.store.of(&person).await?.len();
    if !cx.confirm("clear", &format!("Delete all {count} expenses?")).await? {
        return Ok("Nothing was deleted.");
    }
    app.store.clear(&person).await?;
    Ok("All expenses are deleted.")
}
