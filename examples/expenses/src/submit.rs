//! The tools that submit expenses and list them.

use edge_mcp::{Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expenses::{self, Expense, NewExpense, PAGE, Status};

pub fn submit_expense() -> Tool {
    let tool = Tool::new("submit-expense", "Submits an expense of the caller.", submit);
    tool.title("Submit an expense").additive().closed_world()
}

async fn submit(new: NewExpense, cx: Context) -> Result<Json<Expense>, HandlerError> {
    let added = expenses::add(new, &cx).await?;
    added.map(Json).ok_or_else(|| HandlerError::invalid("`date` must be a day that exists, and not in the future."))
}

#[derive(Deserialize, JsonSchema)]
struct ListExpenses {
    /// Only expenses with this status
    status: Option<Status>,
    /// The `cursor` of the page before this one
    cursor: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Page {
    /// The expenses, the newest first
    expenses: Vec<Expense>,
    /// The cursor for the next page, if there may be one
    cursor: Option<u64>,
}

pub fn list_expenses() -> Tool {
    let description = "Lists the expenses of the caller, or those of all callers if the caller may see them.";
    let tool = Tool::new("list-expenses", description, list);
    // The notes are texts of other people.
    tool.title("List expenses").read_only().closed_world().clean_output()
}

async fn list(ListExpenses { status, cursor }: ListExpenses, cx: Context) -> Result<Json<Page>, HandlerError> {
    let expenses = expenses::list(status, cursor, &cx).await?;
    let last = expenses.last().map(|last| last.id);
    Ok(Json(Page { cursor: last.filter(|_| expenses.len() == PAGE), expenses }))
}
