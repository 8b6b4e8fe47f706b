//! Spaces and filters: each call finds only passages of its space that match every filter.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use edge_mcp::rag::{
    Edge, Fields, Filter, GraphOptions, Link, MemoryStore, Passage, PassageId, Retriever, SaveStore, Search,
    SearchResult, SearchScope, SearchStore, SearchTool, Space, StoreError,
};
use edge_mcp::testing::{self, Client, TestHost, call};
use edge_mcp::{BuildError, Context, HandlerError, McpServer, RequestInfo};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::{Value, json};

use crate::pairs;
use crate::random::Random;
use crate::server::{docs, document, endpoint_with, ids, save, search, searched, space, store, tool};

/// Returns a random filter of a model, as JSON.
fn of_model(random: &mut Random, depth: usize) -> Value {
    let text = |random: &mut Random| random.one(&["x", "xy", "5", "", "é"]).to_owned();
    let field = random.one(&["a", "b", "c"]).to_owned();
    match random.below(if depth == 0 { 4 } else { 6 }) {
        0 => json!({ field: text(random) }),
        1 => json!({ field: { "$ne": text(random) } }),
        2 => json!({ field: { "$gt": text(random) } }),
        3 => json!({ field: { "$exists": random.once_in(2) } }),
        4 => json!({ "$or": [of_model(random, depth - 1), of_model(random, depth - 1)] }),
        _ => json!({ "$not": of_model(random, depth - 1) }),
    }
}

/// R89: filters of the program, of the request and of the model only narrow, in both tools.
#[test]
fn filters_only_narrow() {
    let mut random = Random::new(89);
    let store = MemoryStore::new();
    let mut documents = Vec::new();
    for nth in 0..30 {
        let (name, metadata) = (format!("d{nth}"), pairs::metadata(&mut random));
        let mut document = document(&name, "Tea.", &Value::Object(metadata.clone()));
        document.chunks[0].links = (0..30).map(|other| Link { document: format!("d{other}"), section: None }).collect();
        save(&store, &document);
        documents.push((name, metadata));
    }
    let (store, fields) = (Rc::new(store), Fields::new().text("a", "A").text("b", "B").text("c", "C"));
    let (mut some, mut none) = (0, 0);
    for _ in 0..300 {
        // Three random filters together seldom match, so some are left out.
        let [of_tool, of_request] =
            [0; 2].map(|_| if random.once_in(2) { Filter::default() } else { pairs::filter(&mut random).0 });
        let json = of_model(&mut random, 1);
        let model = Filter::from_json(&json.to_string()).expect("a filter");
        let fits = |metadata| of_tool.matches(metadata) && of_request.matches(metadata) && model.matches(metadata);
        let expected: BTreeSet<_> =
            documents.iter().filter(|(_, it)| fits(it)).map(|(name, _)| format!("{name}#1")).collect();
        *if expected.is_empty() { &mut none } else { &mut some } += 1;
        let docs = docs(&store).within(of_tool.clone());
        for docs in [docs.clone(), docs.graph(GraphOptions::default())] {
            let tool = RefCell::new(Some(tool(docs).filter(fields.clone()).tool()));
            let scope = SearchScope::new().within(of_request.clone());
            let endpoint = endpoint_with(Some(scope), move || tool.take().expect("one request"));
            let answer = searched(&endpoint, json!({ "queryText": "tea", "topK": 50, "filter": json }));
            let found: BTreeSet<_> = ids(&answer).into_iter().map(str::to_owned).collect();
            assert_eq!(found, expected, "{json}");
        }
    }
    assert!(some > 20 && none > 20, "{some} searches with results, {none} without");
}

/// R88: a tool that requires a space fails without one, before it reads anything.
#[test]
fn a_required_space_must_be_set() {
    let unbound = || {
        let no_store = |_: Context| async { Err::<Rc<dyn SearchStore>, _>(HandlerError::new("the store was read")) };
        SearchTool::new(Retriever::new("docs", no_store).spaces_required()).name("search").tool()
    };
    let (endpoint, host) = (endpoint_with(None, unbound), TestHost::new());
    let answer = testing::run(Client::new(&endpoint).host(&host).call("search", json!({ "queryText": "tea" })));
    assert!(answer.is_error());
    assert_eq!(
        answer.text(),
        "This server did not set a search space for this caller. Its operator has to configure one."
    );
    assert!(host.log_text().contains("put `SearchScope::new().space(…)` into the request"), "{}", host.log_text());
    // The empty space is a space as any other.
    let store = store();
    let empty = endpoint_with(Some(SearchScope::new().space("")), move || tool(docs(&store).spaces_required()).tool());
    assert_eq!(ids(&searched(&empty, json!({ "queryText": "coffee" }))), ["coffee#1"]);
}

/// A store that waits before each answer, so that calls are interleaved.
struct Waiting(Rc<MemoryStore>, Rc<TestHost>);

impl Waiting {
    fn later<'a, T: 'a>(&'a self, answer: LocalBoxFuture<'a, T>) -> LocalBoxFuture<'a, T> {
        let wait = edge_mcp::host::Host::sleep(&*self.1, std::time::Duration::from_millis(1));
        async move {
            wait.await;
            answer.await
        }
        .boxed_local()
    }
}

impl SearchStore for Waiting {
    fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<SearchResult, StoreError>> {
        self.later(self.0.search(search))
    }

    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        self.later(self.0.passages(space, ids, filter))
    }

    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        self.later(self.0.neighbours(space, ids, distance, filter))
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Edge>, StoreError>> {
        self.later(self.0.edges(space, seeds, threshold, filter))
    }
}

/// R90 and R109: two requests of two spaces at the same time, with the same server, get only passages of their spaces.
#[test]
fn interleaved_requests_stay_in_their_spaces() {
    const SPACES: usize = 10;
    let memory = Rc::new(MemoryStore::new());
    for nth in 0..SPACES {
        let (name, metadata) = (format!("of-{nth}"), json!({ "category": "drinks" }));
        let text = format!("# Tea\n\nTea of {nth}.\n\n# Pots\n\nPots of {nth}.");
        testing::run(memory.save(&space(&nth.to_string()), &document(&name, &text, &metadata))).expect("saved");
    }
    let host = TestHost::new();
    let waiting = Rc::new(Waiting(memory, Rc::new(host.clone())));
    let server = move |request: &RequestInfo| -> Result<McpServer, BuildError> {
        request.extend(SearchScope::new().space(request.header("X-Tenant").unwrap_or_default()));
        let docs = Retriever::new("docs", waiting.clone()).context(1);
        let search = SearchTool::new(docs.clone()).name("search");
        let related = SearchTool::new(docs.graph(GraphOptions::default())).name("related");
        McpServer::builder("docs", "1.0.0").tool(search.tool()).tool(related.tool()).build()
    };
    let endpoint = testing::endpoint(server);
    let calls = (0..2 * SPACES).map(|nth| {
        let client = Client::new(&endpoint).host(&host).header("X-Tenant", (nth % SPACES).to_string());
        async move {
            let tool = if nth < SPACES { "search" } else { "related" };
            let answer = client.call(tool, json!({ "queryText": "tea" })).await;
            let own = format!("of-{}#", nth % SPACES);
            let found = ids(&answer);
            assert!(!found.is_empty() && found.iter().all(|id| id.starts_with(&own)), "{nth}: {found:?}");
        }
    });
    testing::run(futures::future::join_all(calls));
}

/// R12: the settings of the request take precedence.
#[test]
fn settings_of_the_request_take_precedence() {
    let ask = |scope: SearchScope, arguments: Value| {
        let store = store();
        let other = Space { index: "other".into(), ..space("") };
        testing::run(store.save(&other, &document("of-other", "Warm tea.", &json!({})))).expect("saved");
        let endpoint = endpoint_with(Some(scope), move || tool(docs(&store).most(3)).tool());
        searched(&endpoint, arguments)
    };
    let question = json!({ "queryText": "warm tea", "topK": 3 });
    assert_eq!(ids(&ask(SearchScope::new(), question.clone())).len(), 3);
    assert_eq!(ids(&ask(SearchScope::new().top_k(1), question.clone())), ["tea#1"]);
    assert_eq!(ids(&ask(SearchScope::new().top_k(0), question.clone())), ["tea#1"]);
    assert_eq!(ids(&ask(SearchScope::new().top_k(99), json!({ "queryText": "warm tea" }))).len(), 3);
    assert_eq!(ids(&ask(SearchScope::new().retriever(|docs| docs.index("other")), question.clone())), ["of-other#1"]);
    assert_eq!(ids(&ask(SearchScope::new().space("other"), question.clone())), [""; 0]);
    assert_eq!(ids(&ask(SearchScope::new().include_sources(false), question.clone())), [""; 0]);
    let other = Rc::new(MemoryStore::new());
    save(&other, &document("other", "Warm tea.", &json!({})));
    assert_eq!(ids(&ask(SearchScope::new().store(other), question)), ["other#1"]);
}

/// R13: arguments, headers and `_meta` do not change the settings.
#[test]
fn a_client_cannot_change_the_settings() {
    let store = store();
    testing::run(store.save(&space("secret"), &document("secret", "Secret tea.", &json!({})))).expect("saved");
    let endpoint = endpoint_with(None, move || search(&store).tool());
    let client = Client::new(&endpoint)
        .header("X-Space", "secret")
        .meta("space", json!("secret"))
        .meta("retrieval", json!({ "space": "secret" }));
    let answer = testing::run(client.call("search", json!({ "queryText": "secret tea" })));
    assert!(ids(&answer).iter().all(|id| !id.starts_with("secret")));
}

/// Each call chooses its store.
#[test]
fn a_store_can_be_chosen_for_each_call() {
    let stores = Rc::new(RefCell::new(vec![store(), Rc::new(MemoryStore::new())]));
    let endpoint = testing::endpoint(move |_| {
        let stores = stores.clone();
        let store = move |_: Context| {
            let next = stores.borrow_mut().pop();
            async move {
                let store: Rc<dyn SearchStore> = next.ok_or_else(|| HandlerError::new("SECRET plan"))?;
                Ok(store)
            }
        };
        let search = SearchTool::new(Retriever::new("docs", store)).name("search").tool();
        McpServer::builder("docs", "1.0.0").tool(search).build()
    });
    let (question, host) = (json!({ "queryText": "coffee" }), TestHost::new());
    assert_eq!(ids(&testing::run(call(&endpoint, "search", question.clone()))), [""; 0]);
    assert_eq!(ids(&testing::run(call(&endpoint, "search", question.clone()))), ["coffee#1"]);
    // The caller does not get the cause.
    let answer = testing::run(Client::new(&endpoint).host(&host).call("search", question));
    assert!(answer.is_error());
    assert_eq!(answer.text(), "No search index is configured for this caller.");
    assert!(host.log_text().contains("SECRET plan"));
}
