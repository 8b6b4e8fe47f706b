//! The resource template for an expense, and the prompt for the report of a month.

use edge_mcp::{Completion, CompletionRequest, Context, HandlerError, Prompt, ResourceTemplate};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::expenses::{self, Expense};

#[derive(Deserialize)]
struct ExpenseId {
    id: u64,
}

pub fn expense() -> ResourceTemplate {
    ResourceTemplate::new("expenses://{id}", read)
        .name("expense")
        .description("An expense, such as expenses://7.")
        .mime_type("application/json")
}

async fn read(ExpenseId { id }: ExpenseId, cx: Context) -> Result<String, HandlerError> {
    Ok(serde_json::to_string(&expenses::find(id, &cx).await?)?)
}

#[derive(Deserialize, JsonSchema)]
struct MonthlyReport {
    /// The month, such as 2026-12
    month: String,
}

pub fn monthly_report() -> Prompt {
    Prompt::new("monthly-report", report)
        .description("Asks for a report about the expenses of a month.")
        .complete("month", Completion::with(months))
}

async fn months(request: CompletionRequest, cx: Context) -> Result<Vec<String>, HandlerError> {
    expenses::months(&request.value, &cx).await
}

async fn report(MonthlyReport { month }: MonthlyReport, cx: Context) -> Result<String, HandlerError> {
    let expenses = expenses::of_month(&month, &cx).await?;
    let line =
        |expense: &Expense| format!("- {}: {} of {}, {}", expense.date, expense.amount(), expense.caller, expense.note);
    let lines: Vec<_> = expenses.iter().map(line).collect();
    Ok(format!("Write a report about these expenses of {month}. Name what looks unusual.\n\n{}", lines.join("\n")))
}
