//! Compares the tools that a server publishes with a golden file. Clients see every difference. If a difference is intended, run the test
//! with `UPDATE_GOLDEN=1` to update the file.

use std::path::Path;

use edge_mcp::Endpoint;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client};

/// Compares the tools that `endpoint` lists with those in `file`.
pub fn compare_tools(endpoint: &Endpoint, file: &Path) {
    let list = testing::run(Client::new(endpoint).revision(Revision::V2025_03_26).list("tools"));
    let text = serde_json::to_string_pretty(&list.result()["tools"]).expect("JSON") + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(file, &text).expect("the file can be written");
    }
    let known = std::fs::read_to_string(file).expect("the file exists (UPDATE_GOLDEN=1 writes it)");
    for (nth, (now, before)) in (1..).zip(text.lines().zip(known.lines())) {
        assert_eq!(now, before, "{}, line {nth}", file.display());
    }
    assert_eq!(text.lines().count(), known.lines().count(), "{}", file.display());
}
