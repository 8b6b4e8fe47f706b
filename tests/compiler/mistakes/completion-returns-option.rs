//! A completion that returns an `Option`.
//!
//! error: a list function cannot return `…`
//! label: the function must return `Vec<…String>` or a `Result` of it

use edge_mcp::Completion;

fn cities() -> Completion {
    Completion::with(|request, _| async move { (request.value == "P").then(|| "Paris".to_owned()) })
}
