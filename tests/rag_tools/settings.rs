//! Settings of tools that are not valid.

use std::rc::Rc;

use edge_mcp::rag::{Fields, Filter, GraphOptions, MemoryStore, Retriever, SearchScope, SearchTool};
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{McpServer, Tool};
use serde_json::json;

use crate::server::{docs, endpoint_with, related, search, store, tool};

/// R83: a server with an invalid setting cannot be built. The error names the setting.
#[test]
fn an_invalid_setting_is_named() {
    let docs = || Retriever::new("docs", Rc::new(MemoryStore::new()));
    let search = || tool(docs());
    let graph = |options: GraphOptions| tool(docs().graph(options)).tool();
    let options = GraphOptions::default();
    let tools: [(Tool, &str); 11] = [
        (search().name("a b").tool(), "must be named"),
        (search().description(" ").tool(), "has an empty description"),
        (tool(docs().most(0)).tool(), "has an invalid setting: `most` must be from 1 to 50 (got 0)"),
        (tool(docs().most(51)).tool(), "has an invalid setting: `most` must be from 1 to 50 (got 51)"),
        (tool(docs().per_document(0)).tool(), "has an invalid setting: `per_document` must be at least 1 (got 0)"),
        (tool(docs().context(4)).tool(), "has an invalid setting: `context` must be from 0 to 3 (got 4)"),
        (
            tool(docs().within(Filter::eq("a b", 1))).tool(),
            "has an invalid setting: the filter is invalid: `a b` is not",
        ),
        (search().filter(Fields::new().text("a", "A").text("a", "A")).tool(), "the field `a` is declared twice."),
        (
            SearchTool::new(Retriever::new(" ", Rc::new(MemoryStore::new()))).name("search").tool(),
            "has an invalid setting: the name of the index is blank",
        ),
        (graph(GraphOptions { threshold: 2.0, ..options }), "`threshold` must be from 0 to 1 (got 2.0)"),
        (graph(GraphOptions { restart_prob: 1.0, ..options }), "`restart_prob` must be more than 0 and less than 1"),
    ];
    for (tool, problem) in tools {
        let error = McpServer::builder("docs", "1.0.0").tool(tool).build().err().expect(problem).to_string();
        assert!(error.contains(problem), "{error}");
    }
}

/// R83: an invalid setting of the request fails. The caller cannot change it, so only the log names it.
#[test]
fn an_invalid_setting_of_the_request_is_in_the_log() {
    for (scope, problem) in [
        (SearchScope::new().random_walk_steps(0), "`random_walk_steps` must be from 1 to 1000 (got 0)"),
        (SearchScope::new().restart_prob(1.5), "`restart_prob` must be more than 0 and less than 1 (got 1.5)"),
        (SearchScope::new().within(Filter::eq("a b", 1)), "`a b` is not the name of a field"),
    ] {
        let (store, host) = (store(), TestHost::new());
        let endpoint = endpoint_with(Some(scope), move || related(&store).tool());
        let answer = testing::run(Client::new(&endpoint).host(&host).call("related", json!({ "queryText": "tea" })));
        assert!(answer.is_error());
        assert_eq!(answer.text(), "The search failed, because a setting of this server is not valid.");
        assert!(host.log_text().contains(problem), "{}", host.log_text());
    }
}

/// The filters of the program and of the model together have a limit.
#[test]
fn a_filter_that_is_too_large_together_with_the_others_is_an_error() {
    let of_program = (0..75).fold(Filter::default(), |filter, nth| filter.and(Filter::ne("version", nth)));
    let store = store();
    let endpoint = endpoint_with(None, move || tool(docs(&store).within(of_program.clone())).tool());
    let tests: Vec<_> = (0..10).map(|nth| json!({ "version": nth })).collect();
    let arguments = json!({ "queryText": "tea", "filter": { "$nor": tests } });
    let answer = testing::run(Client::new(&endpoint).call("search", arguments));
    assert!(answer.is_error());
    assert_eq!(
        answer.text(),
        "Argument `filter` has too many tests together with the filters of this server. Use fewer tests."
    );
}

/// The tool is a tool as any other: its scopes, hooks and deadline apply.
#[test]
fn scopes_apply() {
    let store = store();
    let endpoint = endpoint_with(None, move || search(&store).tool().visible_if(|_| false));
    assert_eq!(testing::run(Client::new(&endpoint).list("tools")).names(), [""; 0]);
}
