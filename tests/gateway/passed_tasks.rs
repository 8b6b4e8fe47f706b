//! Tasks of mounted servers that callers follow themselves.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::call::ToolEvent;
use edge_mcp::gateway::{Catalogue, Mount};
use edge_mcp::protocol::Revision;
use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, Answer as Reply, Client, TestHost, TestTasks};
use edge_mcp::{Context, Endpoint, HandlerError, McpServer, StaticTokens, Tool};
use serde_json::{Value, json};

use crate::peer::{Answer, error, result};
use crate::questions::{asks, form};
use crate::servers::{Server, TOKEN, caller, complete, gateway, serving, with_scopes};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const UNKNOWN: &str = "There is no such job: it has expired, or it is not yours. Use the id that the call returned.";
const SECRET: &str = "SECRET-4711";

/// A server that answers each call with a task, and whose next answer about the task a test can change.
#[derive(Clone)]
struct Remote {
    server: Server,
    created: Rc<RefCell<Value>>,
    next: Rc<RefCell<Option<Answer>>>,
}

impl Remote {
    fn new() -> Self {
        let created = json!({
            "taskId": SECRET, "status": "working", "statusMessage": "Packs\u{202e} the\nvan", "createdAt": "2026-01-02T03:04:05.678Z",
            "lastUpdatedAt": "2026-01-02T03:04:06Z", "ttlMs": 60_000, "pollIntervalMs": 2000, "resultType": "task",
            "inputRequests": { "a": 1 }, "task": { "taskId": SECRET },
        });
        let (created, next) = (Rc::new(RefCell::new(created)), Rc::new(RefCell::new(None)));
        let (of_call, of_request): (Rc<RefCell<Value>>, Rc<RefCell<Option<Answer>>>) = (created.clone(), next.clone());
        let server = Server::new(move |message| match message["method"].as_str() {
            Some("tools/call") => result(of_call.borrow().clone()),
            _ => of_request.borrow().clone().unwrap_or_else(|| complete(json!({}))),
        });
        Self { server, created, next }
    }

    /// Sets the next answer to a request about the task.
    fn answers(&self, answer: Answer) {
        self.next.replace(Some(answer));
    }

    /// Sets the next state of the task.
    fn is_in(&self, mut state: Value) {
        for (name, value) in
            [("taskId", json!(SECRET)), ("ttlMs", Value::Null), ("createdAt", json!("2026-01-02T03:04:05Z"))]
        {
            if state.get(name).is_none() {
                state[name] = value;
            }
        }
        self.answers(complete(state));
    }

    fn endpoint(&self) -> Endpoint {
        passing([("m", self.server.mount())])
    }
}

fn passing<const N: usize>(mounts: [(&'static str, Mount); N]) -> Endpoint {
    serving(gateway(mounts), edge_mcp::McpServerBuilder::pass_tasks)
}

/// Returns a caller with tasks, which can be asked by a form.
fn client<'e>(endpoint: &'e Endpoint, host: &TestHost) -> Client<'e> {
    caller(endpoint, host).capabilities(json!({ "elicitation": { "form": {} }, "extensions": { EXTENSION: {} } }))
}

/// Returns the id of the task in an answer.
fn id_of(answer: &Reply) -> String {
    assert_eq!(answer.result()["resultType"], "task", "{answer:?}");
    assert!(!String::from_utf8_lossy(answer.body()).contains("SECRET"), "{answer:?}");
    answer.result()["taskId"].as_str().expect("an id").to_owned()
}

fn start(endpoint: &Endpoint, tool: &str) -> String {
    id_of(&testing::run(client(endpoint, &TestHost::new()).call(tool, json!({}))))
}

fn about(endpoint: &Endpoint, method: &str, id: &str) -> Reply {
    let mut params = json!({ "taskId": id });
    if method == "tasks/update" {
        params["inputResponses"] = json!({});
    }
    testing::run(client(endpoint, &TestHost::new()).request(method, params))
}

fn get(endpoint: &Endpoint, id: &str) -> Reply {
    let answer = about(endpoint, "tasks/get", id);
    assert!(!String::from_utf8_lossy(answer.body()).contains("SECRET"), "{answer:?}");
    answer
}

/// Asserts that an id is as unknown as one that never was, for all methods, and that no server is asked.
fn assert_unknown(endpoint: &Endpoint, id: &str, servers: &[&Server]) {
    for server in servers {
        server.take();
    }
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let answer = about(endpoint, method, id);
        assert_eq!((answer.status(), answer.error()), (200, Some((-32_602, UNKNOWN))), "{method} {id}: {answer:?}");
    }
    for server in servers {
        assert_eq!(server.methods(), [""; 0], "{id}");
    }
}

fn completed(text: &str) -> Value {
    json!({ "status": "completed", "result": { "content": [{ "type": "text", "text": text }] } })
}

/// The result and the error of a passed task are cleaned like those of a call.
#[test]
fn the_result_of_a_task_is_cleaned() {
    let remote = Remote::new();
    let endpoint = passing([("m", remote.server.mount().each_tool(Tool::clean_output))]);
    let id = start(&endpoint, "m_t");
    remote.is_in(completed("a\u{200b}b"));
    assert_eq!(get(&endpoint, &id).result()["result"]["content"][0]["text"], "ab");
    remote.is_in(json!({ "status": "failed", "error": { "code": -32000, "message": "no\u{e0041}!" } }));
    let failed = get(&endpoint, &id);
    let message = &failed.result()["error"]["message"];
    assert!(message.as_str().is_some_and(|message| !message.contains('\u{e0041}')), "{message}");
    let without = passing([("m", remote.server.mount())]);
    let id = start(&without, "m_t");
    remote.is_in(completed("a\u{200b}b"));
    assert_eq!(get(&without, &id).result()["result"]["content"][0]["text"], "a\u{200b}b");
}

/// T1: the server declares the extension, although none of its tools has tasks.
#[test]
fn the_extension_is_declared() {
    let server = Server::tools(["t"]);
    let declared = |endpoint: &Endpoint| {
        let answer = testing::run(caller(endpoint, &TestHost::new()).request("server/discover", json!({})));
        answer.result()["capabilities"]["extensions"].clone()
    };
    assert_eq!(declared(&passing([("m", server.mount())]))[EXTENSION], json!({}));
    let other = crate::servers::endpoint([("m", server.mount())]);
    assert_eq!(declared(&other)[EXTENSION], Value::Null);
    let answer = about(&other, "tasks/get", "g1.AAAA");
    assert_eq!((answer.status(), answer.error().map(|(code, _)| code)), (404, Some(-32_601)));
}

/// Without keys, the endpoint is closed: the ids could not be encrypted.
#[test]
fn tasks_are_not_passed_without_keys() {
    for (passes, status) in [(true, 503), (false, 200)] {
        let gateway = gateway([("m", Server::tools(["t"]).mount())]);
        let endpoint = Endpoint::new(move |_| {
            let server = McpServer::builder("edge", "1.0.0").gateway(&gateway);
            if passes { server.pass_tasks().build() } else { server.build() }
        });
        let host = TestHost::new();
        let answer = testing::run(Client::new(&endpoint.without_auth()).host(&host).call("m_t", json!({})));
        assert_eq!(answer.status(), status, "{answer:?}");
        assert_eq!(host.log_text().contains("MCP_STATE_KEY"), passes, "{}", host.log_text());
    }
}

/// T5, T9: the caller gets the task with an id of the gateway, and only the members of a task. The gateway does not poll.
#[test]
fn the_caller_gets_the_task() {
    for (tool, arguments) in [("m_t", json!({})), ("call-tool", json!({ "name": "m_t", "arguments": {} }))] {
        let remote = Remote::new();
        let endpoint = passing([("m", remote.server.mount().catalogue(Catalogue::Search))]);
        let host = TestHost::new();
        let answer = testing::run(client(&endpoint, &host).call(tool, arguments));
        let id = id_of(&answer);
        assert!(id.starts_with("g1.") && id.len() < 250 && id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
        let mut task = answer.result().clone();
        task.as_object_mut().expect("an object").remove("_meta");
        let expected = json!({
            "taskId": id, "status": "working", "statusMessage": "Packs the van", "createdAt": "2026-01-02T03:04:05.678Z",
            "lastUpdatedAt": "2026-01-02T03:04:06Z", "ttlMs": 60_000, "pollIntervalMs": 2000, "resultType": "task",
        });
        assert_eq!(task, expected);
        assert_eq!((remote.server.methods(), host.waits()), (vec!["tools/call".to_owned()], Vec::new()));
        let again = id_of(&testing::run(client(&endpoint, &host).call("m_t", json!({}))));
        assert_ne!(again, id, "each id is encrypted with another nonce");
    }
}

/// T9: members that are not valid are replaced.
#[test]
fn members_that_are_not_valid_are_replaced() {
    let remote = Remote::new();
    remote.created.replace(json!({
        "taskId": SECRET, "status": "input_required", "statusMessage": "\u{200b}", "createdAt": "<b>T</b>", "lastUpdatedAt": 7,
        "ttlMs": -1, "pollIntervalMs": 1, "resultType": "task",
    }));
    let (endpoint, host) = (remote.endpoint(), TestHost::new().clock(1_800_000_000_000));
    let answer = testing::run(client(&endpoint, &host).call("m_t", json!({})));
    let task = answer.result();
    let now = json!("2027-01-15T08:00:00.000Z");
    assert_eq!(
        (&task["status"], &task["ttlMs"], &task["pollIntervalMs"]),
        (&json!("input_required"), &Value::Null, &json!(1000))
    );
    assert_eq!((&task["createdAt"], &task["lastUpdatedAt"], task.get("statusMessage")), (&now, &now, None));
}

/// T10, T11, T12, T13: each status is passed on, with what belongs to it. A result is what the call would have returned.
#[test]
fn each_status_is_passed_on() {
    let remote = Remote::new();
    let endpoint = remote.endpoint();
    let id = start(&endpoint, "m_t");
    remote.server.take();
    let link = json!({ "type": "resource_link", "uri": "file:///x", "name": "x" });
    let meta = json!({ "io.modelcontextprotocol/related-task": { "taskId": SECRET }, "example.com/x": 1 });
    let own = json!({ "content": [link], "structuredContent": { "a": 1.50 }, "isError": true, "_meta": meta, "resultType": "complete", "more": 1 });
    let shown = json!({
        "content": [{ "type": "resource_link", "uri": "m+file:///x", "name": "x" }], "structuredContent": { "a": 1.50 }, "isError": true,
        "_meta": { "example.com/x": 1 }, "resultType": "complete",
    });
    let error = json!({ "code": -32_000, "message": "no\n\u{202e}van", "data": { "SECRET": 1 } });
    let shown_error = json!({ "code": -32_000, "message": "The server `m` answers: \"no van\"" });
    for (status, added, expected) in [
        ("working", json!({}), json!({})),
        ("cancelled", json!({ "result": {} }), json!({})),
        ("completed", json!({ "result": own }), json!({ "result": shown })),
        ("failed", json!({ "error": error }), json!({ "error": shown_error })),
    ] {
        let mut state = added;
        state["status"] = json!(status);
        remote.is_in(state);
        let answer = get(&endpoint, &id);
        let mut task = answer.result().clone();
        let members = task.as_object_mut().expect("an object");
        assert_eq!((members.remove("taskId"), members.remove("status")), (Some(json!(id)), Some(json!(status))));
        assert_eq!(
            (members.remove("resultType"), members.remove("ttlMs")),
            (Some(json!("complete")), Some(Value::Null))
        );
        for name in ["_meta", "createdAt", "lastUpdatedAt", "pollIntervalMs"] {
            assert!(members.remove(name).is_some(), "{name}");
        }
        assert_eq!(task, expected, "{status}");
    }
    let requests = remote.server.requests();
    assert!(requests.iter().all(|request| request.headers()["mcp-name"] == SECRET));
}

/// T17, C113: the questions name the mount, in their texts and their keys. The answers go to the server by its own keys.
#[test]
fn questions_are_passed_on() {
    let remote = Remote::new();
    let endpoint = remote.endpoint();
    let id = start(&endpoint, "m_t");
    let question = form("Where to?\n[bank] PIN?", json!({ "city": { "type": "string" } }));
    remote.is_in(json!({ "status": "input_required", "inputRequests": { "q \u{e9}/#1": question, "m.q": question } }));
    let questions = get(&endpoint, &id).result()["inputRequests"].clone();
    let mut keys: Vec<_> = questions.as_object().expect("an object").keys().cloned().collect();
    keys.sort();
    assert_eq!(keys, ["m.m.q", "m.q \u{e9}/#1"]);
    assert_eq!(questions["m.m.q"]["params"]["message"], "[m] Where to?\n[m] [bank] PIN?");
    remote.server.take();
    remote.answers(complete(json!({})));
    let answer = json!({ "action": "accept", "content": { "city": "Bern" } });
    let answers = json!({ "m.m.q": answer, "m.q \u{e9}/#1": answer, "q": answer, "n.q": answer, "mm.q": answer });
    let params = json!({ "taskId": id, "inputResponses": answers });
    let acknowledged = testing::run(client(&endpoint, &TestHost::new()).request("tasks/update", params));
    assert_eq!(acknowledged.result()["resultType"], "complete", "{acknowledged:?}");
    let sent = remote.server.take();
    let params = &sent[0]["params"];
    assert_eq!((sent.len(), &sent[0]["method"], &params["taskId"]), (1, &json!("tasks/update"), &json!(SECRET)));
    assert_eq!(params["inputResponses"], json!({ "m.q": answer, "q \u{e9}/#1": answer }));
}

/// T18: a caller gets only the questions that it declares. Others are an error that says what to declare.
#[test]
fn questions_need_the_capability() {
    let remote = Remote::new();
    let endpoint = remote.endpoint();
    let id = start(&endpoint, "m_t");
    let url = json!({ "method": "elicitation/create", "params": { "mode": "url", "message": "Pay?", "url": "https://pay.example/", "elicitationId": "1" } });
    let (roots, sampling) = (
        json!({ "method": "roots/list" }),
        json!({ "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 1 } }),
    );
    let elicitation = |mode: &str| json!({ "requiredCapabilities": { "elicitation": { mode: {} } } });
    for (question, code, data) in [
        (form("Where to?", json!({})), -32_021, elicitation("form")),
        (url, -32_021, elicitation("url")),
        (roots, -32_603, Value::Null),
        (sampling, -32_603, Value::Null),
        (json!({ "method": "evil/ask" }), -32_603, Value::Null),
        (json!({}), -32_603, Value::Null),
    ] {
        remote.is_in(json!({ "status": "input_required", "inputRequests": { "q": question } }));
        let plain = caller(&endpoint, &TestHost::new()).capabilities(json!({ "extensions": { EXTENSION: {} } }));
        let answer = testing::run(plain.request("tasks/get", json!({ "taskId": id })));
        assert_eq!(answer.error().map(|(code, _)| code), Some(code), "{answer:?}");
        assert_eq!(answer.json()["error"]["data"], data, "{answer:?}");
    }
}

/// T19: the cancellation goes to the server, and its answer is an acknowledgement.
#[test]
fn a_cancellation_is_passed_on() {
    let remote = Remote::new();
    let endpoint = remote.endpoint();
    let id = start(&endpoint, "m_t");
    remote.server.take();
    for _ in 0..2 {
        let answer = about(&endpoint, "tasks/cancel", &id);
        let result = answer.result();
        assert_eq!((&result["resultType"], result.get("taskId"), answer.error()), (&json!("complete"), None, None));
        let sent = remote.server.take();
        assert_eq!(
            (sent.len(), &sent[0]["method"], &sent[0]["params"]["taskId"]),
            (1, &json!("tasks/cancel"), &json!(SECRET))
        );
    }
}

/// T21, T27: the id belongs to a caller and a server. With every other one, it is as unknown as a guess, and nothing is sent.
#[test]
fn an_id_belongs_to_its_caller_and_server() {
    let remote = Remote::new();
    let tokens =
        json!([{ "token": TOKEN, "subject": "ada", "scopes": [] }, { "token": "bob", "subject": "bob", "scopes": [] }])
            .to_string();
    let auth = || StaticTokens::from_json("T", Some(&tokens)).expect("tokens");
    let named = |name: &'static str| {
        let gateway = gateway([("m", remote.server.mount())]);
        testing::endpoint(move |_| McpServer::builder(name, "1").gateway(&gateway).pass_tasks().build()).auth(auth())
    };
    let endpoint = named("edge");
    let id = start(&endpoint, "m_t");
    remote.is_in(json!({ "status": "working" }));
    assert_eq!(get(&named("edge"), &id).error(), None, "another isolate knows the id");
    remote.server.take();
    for method in ["tasks/get", "tasks/cancel"] {
        let bob = Client::new(&endpoint).token("bob").capabilities(json!({ "extensions": { EXTENSION: {} } }));
        let answer = testing::run(bob.request(method, json!({ "taskId": id })));
        assert_eq!(answer.error(), Some((-32_602, UNKNOWN)));
    }
    assert_unknown(&named("other"), &id, &[&remote.server]);
    assert_unknown(&passing([("m", remote.server.mount())]), &id, &[&remote.server]);
}

/// T21, T27: guesses, changed ids and long ids are unknown, and nothing is sent.
#[test]
fn a_guess_is_unknown() {
    let remote = Remote::new();
    let endpoint = remote.endpoint();
    let id = start(&endpoint, "m_t");
    let mut guesses: Vec<_> =
        ["", "g1.", "g1.AAAA", "g2.AAAA", "t1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", SECRET, "%"]
            .map(str::to_owned)
            .into();
    let shorter = id.get(..id.len() - 1).expect("ASCII").to_owned();
    guesses.extend([format!("{id}A"), format!("{id}="), id.replace("g1.", "t1."), shorter]);
    for at in 3..id.len() {
        let mut bytes = id.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        guesses.push(String::from_utf8(bytes).expect("ASCII"));
    }
    guesses.extend([
        format!("g1.{}", "A".repeat(1021)),
        format!("g1.{}", "A".repeat(1022)),
        format!("g1.{}", "A".repeat(4000)),
    ]);
    for guess in guesses.iter().filter(|guess| !guess.is_empty()) {
        assert_unknown(&endpoint, guess, &[&remote.server]);
    }
    // Such a header is too long for the endpoint.
    let answer = about(&endpoint, "tasks/get", &format!("g1.{}", "A".repeat(64 << 10)));
    assert!(answer.status() >= 400, "{answer:?}");
    assert_eq!(remote.server.methods(), [""; 0]);
}

/// An id leads only to the mount that created the task, also if another one now has a tool of the same name.
#[test]
fn an_id_belongs_to_its_mount() {
    let (one, two) = (Remote::new(), Server::tools(["t"]));
    let id = start(&passing([("one", one.server.mount().as_is())]), "t");
    one.is_in(json!({ "status": "working" }));
    assert_eq!(get(&passing([("one", one.server.mount().as_is())]), &id).error(), None);
    assert_unknown(&passing([("two", two.mount().as_is())]), &id, &[&one.server, &two]);
    // A tool of the server itself takes precedence.
    let own = serving(gateway([("one", one.server.mount().as_is())]), |server| {
        server.pass_tasks().tool(Tool::new("t", "Answers.", || async { "own" }))
    });
    assert_unknown(&own, &id, &[&one.server]);
    assert_unknown(&passing([("one", one.server.mount().as_is().without(["t"]))]), &id, &[&one.server]);
}

/// T27, C.6: the scopes and the visibility of the tool count at each request about the task.
#[test]
fn the_tool_is_checked_at_each_request() {
    let remote = Remote::new();
    let scopes = |scopes: &[&str]| with_scopes(passing([("m", remote.server.mount().scopes(["m:use"]))]), scopes);
    let id = start(&scopes(&["m:use"]), "m_t");
    remote.is_in(json!({ "status": "working" }));
    assert_eq!(get(&scopes(&["m:use"]), &id).result()["status"], "working");
    assert_unknown(&scopes(&[]), &id, &[&remote.server]);
    let mount = || remote.server.mount().each_tool(|tool| tool.visible_if(|_| false));
    assert_unknown(&with_scopes(passing([("m", mount())]), &["m:use"]), &id, &[&remote.server]);
}

/// T21, T23: the methods need the capability, and the header names the task.
#[test]
fn the_methods_need_the_capability_and_the_header() {
    let remote = Remote::new();
    let endpoint = remote.endpoint();
    let id = start(&endpoint, "m_t");
    remote.server.take();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": id, "inputResponses": {} });
        let answer = testing::run(caller(&endpoint, &TestHost::new()).request(method, params.clone()));
        assert_eq!((answer.status(), answer.error().map(|(code, _)| code)), (400, Some(-32_021)), "{answer:?}");
        let answer =
            testing::run(client(&endpoint, &TestHost::new()).header("Mcp-Name", "g1.A").request(method, params));
        assert_eq!((answer.status(), answer.error().map(|(code, _)| code)), (400, Some(-32_020)), "{answer:?}");
    }
    for method in ["tasks/list", "tasks/result"] {
        assert_eq!(about(&endpoint, method, &id).error().map(|(code, _)| code), Some(-32_601));
    }
    assert_eq!(remote.server.methods(), [""; 0]);
}

/// T2: a caller without the capability, of any revision, gets the result, and so does a call within a call.
#[test]
fn other_callers_get_the_result() {
    let remote = Remote::new();
    remote.is_in(completed("done"));
    let nested = |cx: Context| async move { cx.call_tool("m_t", json!({})).await };
    let endpoint = serving(gateway([("m", remote.server.mount())]), move |server| {
        server.pass_tasks().tool(Tool::new("nested", "Calls.", nested))
    });
    let tasks = || json!({ "extensions": { EXTENSION: {} } });
    for revision in Revision::ALL {
        let is_modern = revision == Revision::V2026_07_28;
        for (tool, capabilities) in [("m_t", if is_modern { json!({}) } else { tasks() }), ("nested", tasks())] {
            let caller = caller(&endpoint, &TestHost::new()).revision(revision).capabilities(capabilities);
            let answer = testing::run(caller.call(tool, json!({})));
            assert_eq!((answer.text(), answer.is_error()), ("done", false), "{revision} {tool}: {answer:?}");
            assert_ne!(answer.result()["resultType"], "task");
            assert_eq!(remote.server.methods(), ["tools/call", "tasks/get"]);
        }
    }
}

/// C.6: a durable task of the gateway waits for the task of the server, and both kinds of tasks have the same methods.
#[test]
fn own_and_passed_tasks_have_the_same_methods() {
    testing::run(async {
        let remote = Remote::new();
        let work = |cx: Context| async move {
            cx.sleep(Duration::from_mins(1)).await;
            Ok::<_, HandlerError>(cx.call_tool("m_t", json!({})).await?.text())
        };
        let endpoint = serving(gateway([("m", remote.server.mount())]), move |server| {
            server.tool(Tool::new("work", "Works.", work).task(Task::new())).pass_tasks()
        });
        let host = TestHost::new();
        let tasks = TestTasks::new(&host);
        let endpoint = tasks.serve(endpoint);
        let client = client(&endpoint, &host);
        let (own, passed) = (id_of(&client.call("work", json!({})).await), id_of(&client.call("m_t", json!({})).await));
        assert!(own.starts_with("t1.") && passed.starts_with("g1."));
        remote.is_in(completed("done"));
        let messages = tasks.messages();
        let get = |id: &str| client.request("tasks/get", json!({ "taskId": id }));
        assert_eq!(get(&passed).await.result()["result"]["content"][0]["text"], "done");
        assert_eq!(tasks.messages(), messages, "no object is asked");
        remote.server.take();
        assert_eq!(get(&own).await.result()["status"], "working");
        assert_eq!(remote.server.methods(), [""; 0]);
        for _ in 0..4 {
            tasks.run().await.expect("the attempts end");
            host.advance(Duration::from_mins(1));
        }
        assert_eq!(get(&own).await.result()["result"]["content"][0]["text"], "done");
        assert_eq!(remote.server.methods(), ["tools/call", "tasks/get"]);
    });
}

/// A server without tasks answers as always.
#[test]
fn a_server_without_tasks_answers_directly() {
    let endpoint = passing([("m", Server::tools(["t"]).mount()), ("n", Remote::new().server.mount())]);
    let answer = testing::run(client(&endpoint, &TestHost::new()).call("m_t", json!({})));
    assert_eq!((answer.text(), &answer.result()["resultType"]), ("t {}", &json!("complete")));
    start(&endpoint, "n_t");
}

/// A tool that callers know by another name, or by a hash, has tasks too.
#[test]
fn a_renamed_tool_has_tasks() {
    let remote = Remote::new();
    let long = "a_tool_with_a_very_long_name_that_becomes_a_hash_here";
    let lists = Server::with(json!({ "tools": [crate::servers::tool(long), crate::servers::tool("t")] }));
    let server = Server::wrapping(&lists, {
        let created = remote.created.clone();
        move |message| match message["method"].as_str() {
            Some("tools/call") => Some(result(created.borrow().clone())),
            Some("tasks/get") => {
                let mut state = completed("done");
                state["taskId"] = json!(SECRET);
                Some(complete(state))
            }
            _ => None,
        }
    });
    let endpoint = passing([("m", server.mount().rename("t", "short"))]);
    for name in crate::servers::names(&endpoint) {
        assert!(name == "m_short" || (name.len() <= 48 && !name.contains(long)), "{name}");
        let id = start(&endpoint, &name);
        server.take();
        assert_eq!(get(&endpoint, &id).result()["result"]["content"][0]["text"], "done", "{name}");
        assert_eq!(server.methods(), ["tasks/get"]);
    }
}

/// C109: the circuit breaker counts the requests about tasks, and holds them back.
#[test]
fn a_server_that_is_down_is_held_back() {
    let remote = Remote::new();
    let endpoint = remote.endpoint();
    let id = start(&endpoint, "m_t");
    remote.answers(Answer::new(502, "text/plain", "SECRET-2"));
    let host = TestHost::new();
    let ask = || testing::run(client(&endpoint, &host).request("tasks/get", json!({ "taskId": id })));
    for _ in 0..3 {
        let answer = ask();
        let (code, message) = answer.error().expect("an error");
        assert!(code == -32_603 && message.starts_with("The server `m` "), "{answer:?}");
        assert!(!String::from_utf8_lossy(answer.body()).contains("SECRET"), "{answer:?}");
    }
    remote.server.take();
    assert!(ask().error().expect("an error").1.contains("is not asked now, because it failed before"));
    assert_eq!(remote.server.methods(), [""; 0]);
    remote.is_in(completed("done"));
    host.advance(Duration::from_mins(1));
    assert_eq!(ask().result()["status"], "completed");
}

/// T21: the errors of the server are sentences of the gateway. A task that the server no longer knows is unknown.
#[test]
fn errors_of_the_server_are_sentences() {
    let remote = Remote::new();
    let endpoint = remote.endpoint();
    let id = start(&endpoint, "m_t");
    for (method, code, expected) in [
        ("tasks/get", -32_602, (-32_602, UNKNOWN)),
        ("tasks/cancel", -32_602, (-32_602, UNKNOWN)),
        ("tasks/update", -32_602, (-32_602, "The server `m` answers: \"no van\"")),
        ("tasks/get", -32_603, (-32_603, "The server `m` answers: \"no van\"")),
        ("tasks/cancel", -32_000, (-32_603, "The server `m` answers: \"no van\"")),
    ] {
        remote.answers(error(200, code, "no\n\u{202e}van"));
        let answer = about(&endpoint, method, &id);
        assert_eq!(answer.error(), Some(expected), "{method}: {answer:?}");
    }
}

/// T5, T11, T13: answers that are no tasks, or other tasks, are invalid. The caller learns nothing from them.
#[test]
fn invalid_tasks_are_rejected() {
    let remote = Remote::new();
    let endpoint = remote.endpoint();
    let id = start(&endpoint, "m_t");
    for state in [
        json!({ "status": "paused" }),
        json!({ "status": 1 }),
        json!({}),
        json!({ "taskId": "SECRET-2", "status": "working" }),
        json!({ "taskId": null, "status": "working" }),
        json!({ "status": "completed" }),
        json!({ "status": "completed", "result": { "isError": false } }),
        json!({ "status": "completed", "result": { "resultType": "task", "taskId": SECRET, "status": "working" } }),
        json!({ "status": "failed" }),
        json!({ "status": "failed", "error": "SECRET-2" }),
        json!({ "status": "input_required", "inputRequests": [] }),
        json!({ "status": "input_required", "inputRequests": { "q": form(&"a".repeat(1 << 20), json!({})) } }),
    ] {
        remote.is_in(state.clone());
        let answer = get(&endpoint, &id);
        let (code, message) = answer.error().expect("an error");
        assert!(code == -32_603 && message.starts_with("The server `m` "), "{answer:?}");
    }
    remote.answers(result(remote.created.borrow().clone()));
    assert_eq!(get(&endpoint, &id).error().map(|(code, _)| code), Some(-32_603), "a task within a task");
    remote.answers(asks(json!({}), json!("SECRET-2")));
    assert_eq!(get(&endpoint, &id).error().map(|(code, _)| code), Some(-32_603));
    for created in [
        json!({ "taskId": SECRET, "status": "paused", "resultType": "task" }),
        json!({ "taskId": "", "status": "working", "resultType": "task" }),
        json!({ "taskId": 1, "status": "working", "resultType": "task" }),
        json!({ "task": { "taskId": SECRET, "status": "working" }, "resultType": "task" }),
        json!({ "taskId": "A".repeat(64 << 10), "status": "working", "resultType": "task" }),
    ] {
        remote.created.replace(created);
        let answer = testing::run(client(&endpoint, &TestHost::new()).call("m_t", json!({})));
        assert!(answer.is_error() && answer.text().starts_with("The server `m` "), "{answer:?}");
    }
}

/// T23: an id stays as short as the ids that the client of the next gateway accepts. The gateway waits for a task whose id would be longer.
#[test]
fn a_long_id_is_not_passed_on() {
    let longest = (1..1024).rev().find(|length| is_passed(&"A".repeat(*length))).expect("a length");
    assert!((600..740).contains(&longest), "{longest}");
    assert!(is_passed(&"\u{1}".repeat(longest / 6)) && !is_passed(&"\u{1}".repeat(longest / 6 + 1)));
    assert!(is_passed(&"\u{e9}".repeat(longest / 2)) && !is_passed(&"\u{e9}".repeat(longest / 2 + 1)));
}

fn is_passed(id: &str) -> bool {
    let remote = Remote::new();
    remote.created.borrow_mut()["taskId"] = json!(id);
    let mut state = completed("done");
    state["taskId"] = json!(id);
    remote.is_in(state);
    let endpoint = remote.endpoint();
    let answer = testing::run(client(&endpoint, &TestHost::new()).call("m_t", json!({})));
    if answer.result()["resultType"] != "task" {
        assert_eq!(answer.text(), "done", "{answer:?}");
        return false;
    }
    let shown = answer.result()["taskId"].as_str().expect("an id");
    assert!(shown.len() <= 1024, "{}", shown.len());
    assert_eq!(about(&endpoint, "tasks/get", shown).result()["status"], "completed");
    true
}

/// A chain of gateways passes tasks on. Each knows only the id of the next one.
#[test]
fn gateways_pass_tasks_on_to_gateways() {
    let remote = Remote::new();
    let inner = Server::endpoint({
        let gateway = edge_mcp::gateway::Gateway::builder("inner", "1")
            .mount("m", remote.server.mount())
            .build()
            .expect("a gateway");
        testing::endpoint(move |_| McpServer::builder("inner", "1").gateway(&gateway).pass_tasks().build())
    });
    let endpoint = passing([("n", inner.mount())]);
    let id = start(&endpoint, "n_m_t");
    let question = form("Where to?", json!({}));
    remote.is_in(json!({ "status": "input_required", "inputRequests": { "q": question } }));
    let questions = get(&endpoint, &id).result()["inputRequests"].clone();
    assert_eq!(questions["n.m.q"]["params"]["message"], "[n] [m] Where to?");
    remote.server.take();
    remote.answers(complete(json!({})));
    let params = json!({ "taskId": id, "inputResponses": { "n.m.q": { "action": "decline" } } });
    testing::run(client(&endpoint, &TestHost::new()).request("tasks/update", params));
    assert_eq!(remote.server.take()[0]["params"]["inputResponses"], json!({ "q": { "action": "decline" } }));
    remote.is_in(completed("done"));
    assert_eq!(get(&endpoint, &id).result()["result"]["content"][0]["text"], "done");
}

/// T7: a server that first asks in rounds and then creates a task is asked once for each round.
#[test]
fn a_task_after_a_round_is_passed_on() {
    let remote = Remote::new();
    let server = Server::wrapping(&remote.server, |message| {
        let is_first = message["method"] == "tools/call" && message["params"]["requestState"].is_null();
        is_first.then(|| asks(json!({ "q": form("Where to?", json!({})) }), json!("SECRET-2")))
    });
    let endpoint = passing([("m", server.mount())]);
    let answer = testing::run(client(&endpoint, &TestHost::new()).answer("m.1.q", json!({})).call("m_t", json!({})));
    id_of(&answer);
    assert_eq!(server.methods(), ["tools/call", "tools/call"]);
}

/// If the program answers questions of the server, the gateway waits: only its own functions can answer them.
#[test]
fn the_gateway_waits_if_the_program_answers() {
    let remote = Remote::new();
    remote.is_in(completed("done"));
    let upstream =
        remote.server.upstream().on_elicitation(|_, _| async { Ok(edge_mcp::FormAnswer::<Value>::Declined) });
    let endpoint = passing([("m", Mount::new(upstream))]);
    let answer = testing::run(client(&endpoint, &TestHost::new()).call("m_t", json!({})));
    assert_eq!(answer.text(), "done", "{answer:?}");
}

/// Hooks see the beginning of a call that continues as a task, and its result or its error each time that the caller gets it: a server cannot
/// avoid the hooks by answering with a task.
#[test]
fn hooks_see_the_beginning_and_the_end() {
    let (remote, events) = (Remote::new(), Rc::new(Cell::new((0, 0))));
    let seen = events.clone();
    let mount = remote.server.mount().each_tool(move |tool| {
        let seen = seen.clone();
        tool.hook(move |event, _| {
            let (begun, ended) = seen.get();
            match event {
                ToolEvent::InputAvailable(_) => seen.set((begun + 1, ended)),
                ToolEvent::Output(_) | ToolEvent::Error(_) => seen.set((begun, ended + 1)),
                _ => {}
            }
            async { Ok(()) }
        })
    });
    let of_server = Rc::new(Cell::new(0));
    let seen = of_server.clone();
    let endpoint = serving(gateway([("m", mount)]), move |it| {
        let seen = seen.clone();
        it.pass_tasks().hook(move |tool: Cow<'static, str>, event, _: Context| {
            assert_eq!(tool, "m_t");
            if let ToolEvent::Output(result) = event {
                assert_eq!(result.text(), "done");
                seen.set(seen.get() + 1);
            }
            async { Ok(()) }
        })
    });
    let id = start(&endpoint, "m_t");
    assert_eq!(events.get(), (1, 0));
    remote.is_in(json!({ "status": "working" }));
    get(&endpoint, &id);
    assert_eq!(events.get(), (1, 0));
    remote.is_in(completed("done"));
    get(&endpoint, &id);
    get(&endpoint, &id);
    assert_eq!((events.get(), of_server.get()), ((1, 2), 2));
    remote.is_in(json!({ "status": "failed", "error": { "code": -1, "message": "no" } }));
    get(&endpoint, &id);
    assert_eq!((events.get(), of_server.get()), ((1, 3), 2));
}
