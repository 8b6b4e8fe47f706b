//! The durable task that exports the expenses of a month in euros.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use edge_mcp::host::{FetchLimits, Fetched};
use edge_mcp::tasks::Task;
use edge_mcp::{Content, Context, HandlerError, Json, ResourceContents, ResultExt, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expenses::{self, Expense};

/// The URL of the exchange rates.
pub struct RatesUrl(pub String);

#[derive(Deserialize, JsonSchema)]
struct ExportMonth {
    /// The month, such as 2026-12
    #[schemars(regex(pattern = r"^\d{4}-\d{2}$"))]
    month: String,
}

#[derive(Serialize, JsonSchema)]
struct Export {
    /// The number of expenses
    expenses: usize,
    /// Their sum in euros
    euros: f64,
}

#[derive(Deserialize)]
struct Rate {
    euros: f64,
}

pub fn export_month() -> Tool {
    let description = "Exports the expenses of a month as CSV, with their amounts in euros.";
    let tool = Tool::new("export-month", description, export).title("Export a month");
    tool.read_only().open_world().task(Task::new())
}

async fn export(ExportMonth { month }: ExportMonth, cx: Context) -> Result<(Json<Export>, Vec<Content>), HandlerError> {
    // If the task is interrupted, this function runs again. The rates are stored.
    let expenses = expenses::of_month(&month, &cx).await?;
    let (mut rates, mut rows, mut cents) = (BTreeMap::from([("EUR", 1.0)]), Vec::new(), 0.0);
    for expense in &expenses {
        let Expense { id, date, caller, currency, category, note, .. } = expense;
        let rate = match rates.entry(currency.as_str()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(unknown) => *unknown.insert(rate(currency, &cx).await?),
        };
        let euro_cents = (f64::from(expense.cents) * rate).round();
        cents += euro_cents;
        let (person, category, amount, euros) = (field(caller), category.name(), expense.amount(), euro_cents / 100.0);
        rows.push(format!("{id},{date},{person},{category},{amount},{euros:.2},{}\r\n", field(note)));
    }
    let csv = format!("id,date,person,category,amount,euros,note\r\n{}", rows.concat());
    let total = Export { expenses: expenses.len(), euros: cents / 100.0 };
    let sentence = format!("Expenses of {month}: {}, {:.2} EUR in total.", total.expenses, total.euros);
    let file = ResourceContents::text(format!("expenses://exports/{month}.csv"), csv).mime_type("text/csv");
    Ok((Json(total), vec![Content::text(sentence), Content::resource(file)]))
}

/// Returns the price of one unit of a currency in euros. If the rates are busy, the task waits and tries again.
async fn rate(currency: &str, cx: &Context) -> Result<f64, HandlerError> {
    let url = format!("{}/{currency}", cx.state::<RatesUrl>()?.0);
    let ask = async || {
        let answer = cx.fetch(http::Request::get(&url).body("")?, FetchLimits::default()).await;
        if let Ok(Fetched { status: 429, retry_after, .. }) = answer {
            return Err(
                HandlerError::new("The exchange rates are busy. Export the month later.").try_again(retry_after)
            );
        }
        let rate = answer.and_then(Fetched::success).and_then(|answer| answer.json::<Rate>());
        Ok(rate.message("The exchange rates are not available. Export the month later.")?.euros)
    };
    cx.retry("rate", &currency, 5, ask).await
}

/// Returns a text as a field of a CSV file. The apostrophe keeps a spreadsheet from reading it as a formula.
fn field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    format!("\"{}{}\"", if is_formula { "'" } else { "" }, text.replace('"', "\"\""))
}
