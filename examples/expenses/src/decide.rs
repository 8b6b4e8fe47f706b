//! The tool that decides about an expense, after a person has approved the decision.

use std::borrow::Cow;

use edge_mcp::{Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::expenses::{self, Expense, Status};

/// The scope of the callers who decide.
pub const SCOPE: &str = "expenses:decide";

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Approve,
    Reject,
}

#[derive(Deserialize, JsonSchema)]
struct DecideExpense {
    /// The number of the expense
    id: u64,
    /// The decision
    decision: Decision,
    /// The reason, which the person who submitted the expense reads
    #[schemars(length(min = 1, max = 500))]
    reason: String,
}

pub fn decide_expense() -> Tool {
    let description = "Approves or rejects an open expense of another person, after the user has confirmed it.";
    let tool = Tool::new("decide-expense", description, decide);
    tool.title("Decide about an expense").destructive().closed_world().scopes([SCOPE]).requires_approval(question)
}

/// Returns the question for the person who approves the call. Then the handler runs.
async fn question(
    DecideExpense { id, decision, .. }: DecideExpense,
    cx: Context,
) -> Result<Option<Cow<'static, str>>, HandlerError> {
    let expense = expenses::find(id, &cx).await?;
    if expense.caller == cx.caller()?.subject {
        return Err(HandlerError::new("Nobody decides about their own expenses. Ask a colleague to do it."));
    }
    let verb = match decision {
        Decision::Approve => "Approve",
        Decision::Reject => "Reject",
    };
    Ok(Some(format!("{verb} {} for {}?", expense.amount(), expense.caller).into()))
}

async fn decide(
    DecideExpense { id, decision, reason }: DecideExpense,
    cx: Context,
) -> Result<Json<Expense>, HandlerError> {
    let status = match decision {
        Decision::Approve => Status::Approved,
        Decision::Reject => Status::Rejected,
    };
    let decided = expenses::decide(id, status, &reason, &cx).await?;
    decided.map(Json).ok_or_else(|| HandlerError::new("Somebody has decided about this expense already."))
}
