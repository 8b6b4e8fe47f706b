//! A completion that is not async.
//!
//! error: `…` is not a future

use edge_mcp::Completion;

fn cities() -> Completion {
    Completion::with(|_, _| vec!["Paris".to_owned()])
}
