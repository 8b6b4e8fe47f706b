//! A completion that returns `&str` in place of `String`.
//!
//! error: a list function cannot return `…`
//! label: the function must return `Vec<…String>` or a `Result` of it

use edge_mcp::Completion;

fn cities() -> Completion {
    Completion::with(|_, _| async { vec!["Lyon", "Paris"] })
}
