//! Failures of the store.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::rag::{
    Edge, Filter, GraphOptions, MemoryStore, Passage, PassageId, Retriever, Search, SearchResult, SearchStore,
    SearchTool, Space, StoreError, StoreFailure,
};
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, HandlerError, McpServer, Tool};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use serde_json::{Value, json};

use crate::server::{ids, store};

/// A store whose call with the number `fails` fails, counted from 0.
struct Failing {
    store: Rc<MemoryStore>,
    kind: StoreFailure,
    fails: usize,
    calls: Cell<usize>,
}

impl Failing {
    fn next<'a, T: 'a>(
        &self,
        answer: LocalBoxFuture<'a, Result<T, StoreError>>,
    ) -> LocalBoxFuture<'a, Result<T, StoreError>> {
        let call = self.calls.replace(self.calls.get() + 1);
        if call == self.fails {
            let cause = "D1_ERROR: SECRET near SELECT".to_owned();
            return ready(Err(StoreError { kind: self.kind, cause })).boxed_local();
        }
        answer
    }
}

impl SearchStore for Failing {
    fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<SearchResult, StoreError>> {
        self.next(self.store.search(search))
    }

    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        self.next(self.store.passages(space, ids, filter))
    }

    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        self.next(self.store.neighbours(space, ids, distance, filter))
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Edge>, StoreError>> {
        self.next(self.store.edges(space, seeds, threshold, filter))
    }
}

/// R10, R91, R92 and R111: a failure at each call of the store is a result with `isError`. The cause is only in the log.
#[test]
fn each_failure_of_the_store_is_an_error() {
    const MESSAGES: [(StoreFailure, &str); 3] = [
        (
            StoreFailure::NotMigrated,
            "The search index has no tables. Its operator must apply the migrations: `npx wrangler d1 migrations apply DB`.",
        ),
        (StoreFailure::Unavailable, "The search index does not respond. Try again later."),
        (StoreFailure::Filter, "The search failed, because a filter of this server is not valid."),
    ];
    let tools: [fn(Rc<Failing>) -> Tool; 2] = [
        |store| SearchTool::new(Retriever::new("docs", store).context(3)).name("search").tool(),
        |store| {
            SearchTool::new(Retriever::new("docs", store).graph(GraphOptions::default()).context(1))
                .name("search")
                .tool()
        },
    ];
    for (tool, least_calls) in tools.into_iter().zip([2, 4]) {
        for (kind, message) in MESSAGES {
            let mut fails = 0;
            loop {
                let failing = Rc::new(Failing { store: store(), kind, fails, calls: Cell::new(0) });
                let of_server = failing.clone();
                let endpoint = testing::endpoint(move |_| {
                    McpServer::builder("docs", "1.0.0").tool(tool(of_server.clone())).build()
                });
                let host = TestHost::new();
                let arguments = json!({ "queryText": "steeping tea", "topK": 2 });
                let answer = testing::run(Client::new(&endpoint).host(&host).call("search", arguments));
                if fails >= failing.calls.get() {
                    assert!(!ids(&answer).is_empty(), "no call failed");
                    // R92: the calls of the store are limited.
                    assert!((least_calls..=6).contains(&fails), "{fails} calls");
                    break;
                }
                assert!(answer.is_error() && answer.error().is_none());
                assert_eq!((answer.text(), answer.structured()), (message, &Value::Null));
                let log = host.log_text();
                assert!(log.contains("D1_ERROR: SECRET near SELECT") && !log.contains("steeping"), "{log}");
                fails += 1;
            }
        }
    }
}

/// R10: a search in an index without passages is a failure if the space has another index. A search in an empty store finds nothing.
#[test]
fn an_unknown_index_is_an_error() {
    let searched = |store: Rc<MemoryStore>, index: &'static str| {
        let endpoint = testing::endpoint(move |_| {
            let tool = SearchTool::new(Retriever::new(index, store.clone())).name("search").tool();
            McpServer::builder("docs", "1.0.0").tool(tool).build()
        });
        testing::run(Client::new(&endpoint).call("search", json!({ "queryText": "no-such-word" })))
    };
    let answer = searched(store(), "doc");
    assert!(answer.is_error());
    assert_eq!(answer.text(), "Unknown index `doc`.");
    assert_eq!(ids(&searched(store(), "docs")), [""; 0]);
    assert_eq!(ids(&searched(Rc::new(MemoryStore::new()), "docs")), [""; 0]);
}

/// R93: the deadline of the tool applies.
#[test]
fn a_search_has_the_deadline_of_its_tool() {
    let endpoint = testing::endpoint(|_| {
        let never = |_: Context| std::future::pending::<Result<Rc<dyn SearchStore>, HandlerError>>();
        let tool =
            SearchTool::new(Retriever::new("docs", never)).name("search").tool().deadline(Duration::from_secs(2));
        McpServer::builder("docs", "1.0.0").tool(tool).build()
    });
    let host = TestHost::new();
    let answer = testing::run(Client::new(&endpoint).host(&host).call("search", json!({ "queryText": "tea" })));
    assert!(answer.is_error());
    assert_eq!(host.waits().last(), Some(&Duration::from_secs(2)), "{}", answer.text());
}
