//! The state of an endpoint, and shared servers, which are built once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_mcp::auth::StateKeys;
use edge_mcp::call::MissingState;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{BuildError, Context, Endpoint, HandlerError, McpServer, RequestInfo, StaticTokens, Tool};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::input_required::{KEY, all_capabilities, with_capabilities};
use crate::support::{Ask, legacy, modern, on, post};

struct App {
    greeting: &'static str,
}

struct Features {
    export: bool,
}

async fn greet(cx: Context) -> Result<String, HandlerError> {
    Ok(cx.state::<App>()?.greeting.to_owned())
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let nested = |cx: Context| async move { Ok::<_, HandlerError>(cx.call_tool("greet", json!({})).await?.text()) };
    let greet = Tool::new("greet", "Greets.", greet);
    McpServer::builder("s", "1").tool(greet).tool(Tool::new("nested", "Greets.", nested)).build()
}

fn open(endpoint: Endpoint) -> Endpoint {
    endpoint.without_auth().without_rate_limit()
}

fn call(name: &str) -> Ask {
    modern("tools/call", json!({ "name": name }))
}

#[test]
fn handlers_share_the_state_of_the_endpoint() {
    let endpoint = open(Endpoint::new(server).state(Features { export: true }).state(App { greeting: "Hello" }));
    for name in ["greet", "nested"] {
        assert_eq!(call(name).ask_at(&endpoint).tool_text(), ("Hello", false));
    }
}

/// The server function can read the state, in each kind of request that it runs for.
#[test]
fn the_server_function_can_read_the_state() {
    let endpoint = Endpoint::new(|request| {
        let server = McpServer::builder("s", "1");
        let export = || Tool::new("export", "Exports.", || async { "done" });
        if request.state::<Features>()?.export { server.tool(export()).build() } else { server.build() }
    });
    let endpoint = open(endpoint.state(Features { export: true }));
    assert_eq!(call("export").ask_at(&endpoint).tool_text(), ("done", false));
    let ping = |id: u8| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let batch = legacy("ping", json!({})).with_body(json!([ping(1), ping(2)]).to_string());
    assert_eq!(batch.replace("MCP-Protocol-Version", "2025-03-26").ask_at(&endpoint).status, 200);
    let page = post("").verb("GET").at("/").header("Accept", "text/html");
    let (pool, host) = (LocalPool::new(), TestHost::new());
    let page = page.raw(&endpoint, &on(&pool, &host)).now_or_never().expect("the page is ready at once");
    assert_eq!(page.status(), 200);
}

/// The response does not name types. The log names the missing type, the types that the endpoint has, and the remedy.
#[test]
fn a_missing_state_is_named_in_the_log() {
    let host = TestHost::new();
    let endpoint = open(Endpoint::new(server).state(Features { export: true }));
    let answer = call("greet").ask_on(&endpoint, &host);
    let (text, is_error) = answer.tool_text();
    assert!(is_error && !text.contains("App"), "{text}");
    let log = host.log_text();
    for part in ["state::App` is missing", "Endpoint::state", "state::Features`"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    let failing = open(Endpoint::new(|request| {
        request.state::<App>()?;
        McpServer::builder("s", "1").build()
    }));
    let host = TestHost::new();
    let answer = legacy("ping", json!({})).ask_on(&failing, &host);
    assert_eq!((answer.status, answer.message().contains("App")), (503, false));
    assert!(host.log_text().contains("state::App` is missing"), "{}", host.log_text());
    assert!(host.log_text().contains("the endpoint has no state"), "{}", host.log_text());
    let missing = RequestInfo::none().state::<App>().err();
    let _: MissingState = missing.expect("there is no state");
}

#[test]
fn a_state_that_is_added_twice_closes_the_endpoint() {
    let host = TestHost::new();
    let twice = Endpoint::new(server).state(App { greeting: "Hello" }).state(App { greeting: "Bye" });
    let answer = call("greet").ask_on(&open(twice), &host);
    assert_eq!((answer.status, answer.message().contains("App")), (503, false));
    assert!(host.log_text().contains("state::App` is added twice"), "{}", host.log_text());
    // The endpoint is also closed at a custom path.
    let twice = Endpoint::new(server).path("/api").state(Features { export: true }).state(Features { export: true });
    assert_eq!(call("greet").at("/api").ask_at(&open(twice)).status, 503);
}

/// The same rule holds for work that no request started: neither of two values can be read.
#[test]
fn a_state_that_is_added_twice_cannot_be_read() {
    let cx = testing::context(&TestHost::new());
    cx.request().add_state(App { greeting: "Hello" });
    assert_eq!(cx.state::<App>().expect("the state").greeting, "Hello");
    cx.request().add_state(App { greeting: "Bye" });
    let problem = cx.state::<App>().err().expect("there are two").to_string();
    assert!(problem.ends_with("state::App` is added twice: add one value of each type"), "{problem}");
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

struct Tenant(String);

/// A point at which two calls wait for each other. It holds the sender that resumes the first call.
#[derive(Default)]
struct Meeting(Cell<Option<oneshot::Sender<()>>>);

/// Returns the tenant, the caller and an answer. Before that, it waits at the [`Meeting`] for another call.
async fn describe(cx: Context) -> Result<String, HandlerError> {
    let answer = cx.elicit::<Name>("name", "Your name?").await?.accepted();
    let meeting = cx.state::<Meeting>()?;
    if let Some(waiting) = meeting.0.take() {
        waiting.send(()).expect("the other call waits");
    } else {
        let (sender, receiver) = oneshot::channel();
        meeting.0.set(Some(sender));
        receiver.await?;
    }
    let tenant = cx.extension::<Tenant>().map_or_else(String::new, |tenant| tenant.0.clone());
    let caller = cx.caller().map_or("no caller", |caller| &caller.subject);
    Ok(format!("{tenant} {caller} {}", answer.map_or_else(String::new, |answer| answer.name)))
}

fn shared(built: &Rc<Cell<u32>>) -> Endpoint {
    const TOKENS: &str = r#"[
        {"token": "ada", "subject": "ada", "scopes": ["write"]},
        {"token": "bob", "subject": "bob", "scopes": []}
    ]"#;
    built.set(built.get() + 1);
    let of_bob = |request: &RequestInfo| request.caller().is_some_and(|caller| caller.subject == "bob");
    let server = McpServer::builder("s", "1")
        .tool(Tool::new("describe", "Describes the call.", describe))
        .tool(Tool::new("write", "Writes.", || async { "written" }).scopes(["write"]))
        .tool(Tool::new("of-bob", "Is Bob's.", || async { "Bob's" }).visible_if(of_bob))
        .build();
    Endpoint::of(server.expect("a server"))
        .each(|request| {
            request.extend(Tenant(request.header("X-Tenant").unwrap_or_default()));
            Ok(())
        })
        .state(Meeting::default())
        .auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"))
        .state_keys(StateKeys::from_text("MCP_STATE_KEY", Some(KEY)).expect("a key"))
        .without_rate_limit()
}

/// Two callers with interleaved calls do not see the lists, extensions or answers of each other.
#[test]
fn callers_of_a_shared_server_are_isolated() {
    let built = Rc::new(Cell::new(0));
    let endpoint = Rc::new(shared(&built));
    let listed = |token: &str| {
        let list = legacy("tools/list", json!({})).bearer(token).ask_at(&endpoint);
        let tools = list.result()["tools"].as_array().expect("tools").clone();
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        assert_eq!(
            (listed("ada"), listed("bob")),
            (vec!["describe".into(), "write".into()], vec!["describe".into(), "of-bob".into()])
        );
    }
    let call_as = |token: &'static str, params: Value| {
        with_capabilities(all_capabilities(), "tools/call", params)
            .bearer(token)
            .header("X-Tenant", format!("{token}'s"))
    };
    let asked =
        |token| call_as(token, json!({ "name": "describe" })).ask_at(&endpoint).result()["requestState"].clone();
    let states = [("ada", asked("ada")), ("bob", asked("bob"))];
    let mut pool = LocalPool::new();
    let answers = Rc::new(RefCell::new(Vec::new()));
    for (token, state) in states.clone() {
        let answered = json!({ "action": "accept", "content": { "name": format!("{token}!") } });
        let params = json!({ "name": "describe", "requestState": state, "inputResponses": { "name": answered } });
        let (endpoint, answers, host) = (endpoint.clone(), answers.clone(), TestHost::new());
        let ask = call_as(token, params);
        let answer = async move {
            let answer = ask.send(&endpoint, &host).await;
            answers.borrow_mut().push(answer.tool_text().0.to_owned());
        };
        pool.spawner().spawn_local(answer).expect("the pool runs");
    }
    pool.run();
    answers.borrow_mut().sort();
    assert_eq!(*answers.borrow(), ["ada's ada ada!", "bob's bob bob!"]);
    // Bob cannot continue Ada's call.
    let [(_, of_ada), _] = states;
    let params = json!({ "name": "describe", "requestState": of_ada, "inputResponses": {} });
    let stolen = call_as("bob", params).ask_at(&endpoint);
    assert_eq!(stolen.error()["data"]["reason"], "invalid_request_state");
    assert_eq!(built.get(), 1);
}

/// An error of `each` gets 503. Its cause is only in the log.
#[test]
fn an_error_in_each_gets_503() {
    let host = TestHost::new();
    let endpoint = Endpoint::new(server).each(|_| Err(BuildError::new("tenant", "acme", "is not known")));
    let answer = call("greet").ask_on(&open(endpoint), &host);
    assert_eq!((answer.status, answer.message().contains("acme")), (503, false));
    assert!(host.log_text().contains("the tenant \\\"acme\\\" is not known"), "{}", host.log_text());
}
