//! Tasks of other servers: a call whose result the client requests later.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{
    Call, CallResult, ClientError, Definition, Executed, Failure, McpClient, Peer as Server, RemoteTask, Upstream,
};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, Endpoint, FormAnswer, HandlerError, McpServer, Tool};
use futures::FutureExt;
use serde_json::{Value, json};

use crate::calls::{at, client, context, modern};
use crate::fake_model::{asked, calls, model, text};
use crate::peer::{Answer, End, Peer, error, json_answer, result};
use crate::questions::{asks, body, form};

const TASKS: &str = "io.modelcontextprotocol/tasks";

fn pinned(peer: &Peer) -> Upstream {
    at(peer).revision(Revision::V2026_07_28)
}

/// The answer to a call: a task.
fn created(members: Value) -> Answer {
    let mut task = json!({ "resultType": "task", "taskId": "t-1", "status": "working", "ttlMs": null });
    task.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    result(task)
}

/// The state of the task.
fn state(status: &str, members: Value) -> Answer {
    let mut task = json!({ "resultType": "complete", "taskId": "t-1", "status": status, "ttlMs": null });
    task.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    result(task)
}

fn working() -> Answer {
    state("working", json!({}))
}

fn completed(text: &str) -> Answer {
    let result = json!({ "content": [{ "type": "text", "text": text }], "resultType": "complete" });
    state("completed", json!({ "result": result }))
}

fn asking(questions: Value) -> Answer {
    state("input_required", json!({ "inputRequests": questions }))
}

fn acknowledged() -> Answer {
    result(json!({ "resultType": "complete" }))
}

/// Calls the tool `track`, and returns the result with the pauses.
fn call(upstream: Upstream, set: impl FnOnce(Call) -> Call) -> (Result<CallResult, ClientError>, Vec<Duration>) {
    let host = TestHost::new();
    let server = client(upstream).connect(&context(&host)).server("parcels").expect("a server");
    let call = set(server.call("track", json!({ "number": 7 })));
    let outcome = testing::run(host.run(call.into_future())).expect("the call ends");
    let waits = host.waits();
    // A task is cancelled in the background.
    testing::run(host.run(async {})).expect("the tasks end");
    (outcome, waits)
}

fn seconds(seconds: &[u64]) -> Vec<Duration> {
    seconds.iter().map(|seconds| Duration::from_secs(*seconds)).collect()
}

/// The methods of the requests, with the last part of their names.
fn methods(peer: &Peer) -> String {
    peer.methods().iter().map(|method| method.rsplit('/').next().unwrap_or_default()).collect::<Vec<_>>().join(" ")
}

/// T13, T23, T25: the state of the task is requested at the interval of the server, which may change. `Mcp-Name` repeats the id.
#[test]
fn a_task_is_polled_until_it_ends() {
    let peer = Peer::new([
        created(json!({ "pollIntervalMs": 2000 })),
        working(),
        state("working", json!({ "pollIntervalMs": 7000 })),
        completed("in Lyon"),
    ]);
    let (outcome, waits) = call(pinned(&peer), |it| it);
    assert_eq!((outcome.expect("a result").text(), waits), ("in Lyon".to_owned(), seconds(&[2, 2, 7])));
    assert_eq!(methods(&peer), "call get get get");
    for request in &peer.requests()[1..] {
        assert_eq!(
            (&request.headers()["mcp-method"], &request.headers()["mcp-name"]),
            (&"tasks/get".parse().expect("a value"), &"t-1".parse().expect("a value"))
        );
        let mut params = body(request)["params"].clone();
        params.as_object_mut().expect("an object").remove("_meta");
        assert_eq!(params, json!({ "taskId": "t-1" }));
    }
}

/// T1: calls and the requests about their tasks declare the extension, each for itself. Other requests do not, and neither do legacy ones.
#[test]
fn the_extension_is_declared_where_a_task_can_be_the_answer() {
    let declared = |message: &Value| {
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"].clone()
    };
    let peer = Peer::new([
        // A list is its own probe.
        result(json!({ "resultType": "complete", "tools": [] })),
        created(json!({})),
        asking(json!({ "q": form("Where to?", json!({})) })),
        acknowledged(),
        working(),
        acknowledged(),
    ]);
    let upstream = at(&peer).extension("com.example/ledger", json!({})).expect("an identifier");
    let upstream = upstream.on_elicitation(|_, _| async { Ok(FormAnswer::Declined) });
    let host = TestHost::new();
    let server = client(upstream).connect(&context(&host)).server("parcels").expect("a server");
    let work = async {
        server.list_tools().await.expect("a list");
        let late = server.call("track", json!({})).task_timeout(Duration::from_secs(10)).await.expect_err("a task");
        let Failure::StillRunning(task) = late.failure() else { panic!("{late:?}") };
        server.task(task).cancel().await.expect("an acknowledgement");
    };
    testing::run(host.run(work)).expect("the calls end");
    let expected = [
        ("tools/list", false),
        ("tools/call", true),
        ("tasks/get", true),
        ("tasks/update", true),
        ("tasks/get", true),
        ("tasks/cancel", true),
    ];
    let requests: Vec<_> = peer.requests().iter().map(body).collect();
    for (message, (method, has_tasks)) in requests.iter().zip(expected) {
        let extensions = if has_tasks {
            json!({ "com.example/ledger": {}, TASKS: {} })
        } else {
            json!({ "com.example/ledger": {} })
        };
        assert_eq!((message["method"].as_str(), declared(message)), (Some(method), extensions));
    }
    let initialized = result(json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {} }));
    let legacy = Peer::new([initialized, Answer::new(202, "", ""), result(json!({ "content": [] }))]);
    call(at(&legacy).revision(Revision::V2025_11_25), |it| it).0.expect("a result");
    assert!(legacy.requests().iter().all(|request| !request.body().contains(TASKS)));
}

/// T25: the interval has a floor and a cap. Without one, the client asks every 5 s, and a state without an interval does not change it.
#[test]
fn the_interval_of_the_server_is_limited() {
    let later = |interval: Value| state("working", json!({ "pollIntervalMs": interval }));
    let peer = Peer::new([
        created(json!({ "pollIntervalMs": 0 })),
        later(json!(86_400_000)),
        later(json!(-1)),
        later(json!("2000")),
        working(),
        completed("in Lyon"),
    ]);
    let (outcome, waits) = call(pinned(&peer), |it| it);
    assert_eq!((outcome.expect("a result").text(), waits), ("in Lyon".to_owned(), seconds(&[1, 60, 1, 1, 1])));
    let peer = Peer::new([created(json!({})), completed("in Lyon")]);
    assert_eq!(call(pinned(&peer), |it| it).1, seconds(&[5]));
}

/// T5, T10: a task may have ended when it is created. Its state is then requested at once.
#[test]
fn a_task_that_has_ended_is_requested_at_once() {
    for status in ["completed", "failed", "cancelled", "input_required"] {
        let peer = Peer::new([created(json!({ "status": status })), completed("in Lyon")]);
        let (outcome, waits) = call(pinned(&peer), |it| it);
        assert_eq!((outcome.expect("a result").text(), waits), ("in Lyon".to_owned(), vec![]), "{status}");
    }
}

/// T11: a completed task has the result of a direct answer, also if the tool failed, with the same check of the output schema.
#[test]
fn a_completed_task_has_the_result_of_a_call() {
    let tool =
        json!({ "name": "track", "inputSchema": {}, "outputSchema": { "type": "object", "required": ["city"] } });
    let tool = Definition::from_json(&json!({ "server": "parcels", "tool": tool }).to_string()).expect("a definition");
    for (members, expected) in [
        (json!({ "structuredContent": { "city": "Lyon" } }), Ok(false)),
        (json!({ "isError": true }), Ok(true)),
        (
            json!({ "structuredContent": {} }),
            Err("does not match the output schema of the tool. The call was executed."),
        ),
        (json!({}), Err("has no structured content")),
        (json!({ "content": 7 }), Err("has a result without `content`")),
    ] {
        let mut direct = json!({ "content": [], "resultType": "complete" });
        direct.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
        let outcomes = [
            Peer::new([result(direct.clone())]),
            Peer::new([created(json!({})), state("completed", json!({ "result": direct.clone() }))]),
        ]
        .map(|peer| call(pinned(&peer), |it| it.definition(&tool)).0.map(|it| (it.is_error(), it.raw().to_owned())));
        for outcome in &outcomes {
            match (outcome, &expected) {
                (Ok((is_error, _)), expected) => assert_eq!(Ok(*is_error), *expected),
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
                (Err(error), Ok(_)) => panic!("{error}"),
            }
        }
        let [one, two] = outcomes;
        assert_eq!(one.map_err(|error| error.to_string()), two.map_err(|error| error.to_string()));
    }
}

/// T11: a failed task has the error of a direct answer. The log also gets the description of the server.
#[test]
fn a_failed_task_has_the_error_of_a_call() {
    let required = json!({ "requiredCapabilities": { "extensions": { "com.example/ledger": {} } } });
    for members in [
        json!({ "code": -32_603, "message": "no \u{202e}depot" }),
        json!({ "code": -32_602, "message": "Unknown tool `track`." }),
        json!({ "code": -32_021, "message": "no", "data": { "requiredCapabilities": { "elicitation": {} } } }),
        json!({ "code": -32_021, "message": "no", "data": required }),
        json!({ "code": 7, "message": "no", "data": [1.50] }),
    ] {
        let direct = Peer::new([json_answer(200, json!({ "jsonrpc": "2.0", "id": "$id", "error": members }))]);
        let failed = state("failed", json!({ "error": members, "statusMessage": "No van today." }));
        let peer = Peer::new([created(json!({})), failed]);
        let direct = call(pinned(&direct), |it| it).0.expect_err("a failure");
        let error = call(pinned(&peer), |it| it).0.expect_err("a failure");
        assert_eq!((error.failure(), error.executed()), (direct.failure(), direct.executed()), "{members}");
        assert_eq!(error.to_string(), direct.to_string());
        assert!(format!("{error:?}").contains("No van today."), "{error:?}");
        assert_eq!(methods(&peer), "call get", "a task that has ended is not cancelled");
    }
}

/// T10: a cancelled task is an error of its own. It may have had effects.
#[test]
fn a_cancelled_task_is_an_error() {
    let peer = Peer::new([created(json!({})), state("cancelled", json!({}))]);
    let error = call(pinned(&peer), |it| it).0.expect_err("a failure");
    assert_eq!((error.failure(), error.executed()), (&Failure::TaskCancelled, Executed::Unknown));
    assert_eq!(
        error.to_string(),
        "The server `parcels` did not finish the call: its task was cancelled. It is not known whether the call was executed. \
         Check its effect before you call again."
    );
    assert_eq!(methods(&peer), "call get");
}

/// T21: an unknown or expired id is an error of its own, with each status of HTTP that servers use for it.
#[test]
fn an_unknown_task_is_an_error() {
    for status in [200, 400, 404] {
        let unknown = || error(status, -32_602, "Unknown task.");
        let peer = Peer::new([created(json!({})), unknown()]);
        let error = call(pinned(&peer), |it| it).0.expect_err("a failure");
        assert_eq!((error.failure(), error.executed()), (&Failure::TaskUnknown, Executed::Unknown), "{status}");
        let expected =
            "The server `parcels` does not know the task of the call. The task may have expired. It is not known";
        assert!(error.to_string().starts_with(expected), "{error}");
        assert_eq!(methods(&peer), "call get");
    }
}

/// T14, T15, T16, T17: each question is answered once by a function of the program, also if the server lists it again. Answers go to
/// `tasks/update`, and answers of ordinary rounds before the task do not (T7).
#[test]
fn each_question_of_a_task_is_answered_once() {
    let count = Rc::new(Cell::new(0));
    let seen = count.clone();
    let question = |text: &str| form(text, json!({ "nth": { "type": "integer" } }));
    let peer = Peer::new([
        asks(json!({ "q": question("Before?") }), json!("SECRET-STATE")),
        created(json!({ "status": "input_required" })),
        asking(json!({ "q": question("One?"), "r": question("Two?") })),
        acknowledged(),
        // The server has not read the answers yet, and then only one of them.
        asking(json!({ "q": question("One?"), "r": question("Two?") })),
        asking(json!({ "r": question("Two?"), "s": question("Three?") })),
        acknowledged(),
        asking(json!({})),
        state("input_required", json!({})),
        completed("in Lyon"),
    ]);
    let upstream = pinned(&peer).on_elicitation(move |_, _| {
        seen.set(seen.get() + 1);
        let nth = seen.get();
        async move { Ok(FormAnswer::Accepted(json!({ "nth": nth }))) }
    });
    let (outcome, waits) = call(upstream, |it| it);
    assert_eq!(outcome.expect("a result").text(), "in Lyon");
    assert_eq!((count.get(), waits), (4, seconds(&[5, 5, 5, 5, 5])));
    assert_eq!(methods(&peer), "call call get update get get update get get get");
    let updates: Vec<_> =
        peer.requests().iter().filter(|it| it.headers()["mcp-method"] == "tasks/update").cloned().collect();
    let answer = |nth: u32| json!({ "action": "accept", "content": { "nth": nth } });
    for (request, answers) in updates.iter().zip([json!({ "q": answer(2), "r": answer(3) }), json!({ "s": answer(4) })])
    {
        let mut params = body(request)["params"].clone();
        params.as_object_mut().expect("an object").remove("_meta");
        assert_eq!(params, json!({ "taskId": "t-1", "inputResponses": answers }));
        assert_eq!(request.headers()["mcp-name"], "t-1");
    }
}

/// T17: a question that cannot be answered ends the call and cancels the task.
#[test]
fn an_unanswered_question_ends_the_call() {
    let question = || asking(json!({ "q": form("Where to?", json!({})) }));
    let peer = Peer::new([created(json!({})), question(), acknowledged()]);
    let error = call(pinned(&peer), |it| it).0.expect_err("a failure");
    assert_eq!((error.failure(), error.executed()), (&Failure::CapabilityRequired, Executed::Unknown));
    assert_eq!(methods(&peer), "call get cancel");
    let peer = Peer::new([created(json!({})), question(), acknowledged()]);
    let fails = pinned(&peer).on_elicitation(|_, _| async { Err(HandlerError::new("No depot is open.")) });
    let error = call(fails, |it| it).0.expect_err("a failure");
    assert!(error.to_string().contains("did not answer: No depot is open."), "{error}");
    assert_eq!(methods(&peer), "call get cancel");
}

/// A task that has not ended in time is in the error. The program continues it in another connection, and stores it as JSON.
#[test]
fn a_late_task_is_continued() {
    let peer = Peer::new([
        created(json!({ "pollIntervalMs": 4000 })),
        working(),
        working(),
        working(),
        working(),
        completed("in Lyon"),
    ]);
    let (outcome, waits) = call(pinned(&peer), |it| it.task_timeout(Duration::from_secs(10)));
    let error = outcome.expect_err("a task");
    assert_eq!((waits, error.executed()), (seconds(&[4, 4, 2]), Executed::Unknown));
    assert_eq!(methods(&peer), "call get get get", "the task is not cancelled");
    let expected =
        "The server `parcels` has not finished the call yet. It continues the call as a task. It is not known whether";
    assert!(error.to_string().starts_with(expected), "{error}");
    let Failure::StillRunning(task) = error.failure() else { panic!("{error:?}") };
    assert_eq!((task.server(), task.tool(), task.id()), ("parcels", "track", "t-1"));
    let stored = serde_json::to_string(task).expect("JSON");
    let task: RemoteTask = serde_json::from_str(&stored).expect("a task");

    let host = TestHost::new();
    let connection = client(pinned(&peer)).connect(&context(&host));
    let work = connection.task(&task).expect("a server").task_timeout(Duration::from_secs(10)).into_future();
    assert_eq!(testing::run(host.run(work)).expect("the call ends").expect("a result").text(), "in Lyon");
    assert_eq!(host.waits(), seconds(&[5]));
    assert_eq!(methods(&peer), "call get get get get get");
}

/// T19: a program cancels a task that it knows, as often as it wants. The error of a server that does not know the task is returned.
#[test]
fn a_known_task_is_cancelled() {
    let task = RemoteTask::new("parcels", "track", "t-1");
    let peer = Peer::new([acknowledged(), acknowledged(), error(200, -32_602, "Unknown task.")]);
    let host = TestHost::new();
    let server = client(pinned(&peer)).connect(&context(&host)).server("parcels").expect("a server");
    testing::run(async {
        for _ in 0..2 {
            server.task(&task).cancel().await.expect("an acknowledgement");
        }
        let error = server.task(&task).cancel().await.expect_err("an error");
        assert_eq!(*error.failure(), Failure::TaskUnknown);
    });
    let request = &peer.requests()[0];
    assert_eq!(
        (&request.headers()["mcp-method"], &request.headers()["mcp-name"]),
        (&"tasks/cancel".parse().expect("a value"), &"t-1".parse().expect("a value"))
    );
    assert_eq!(body(request)["params"]["taskId"], "t-1");
}

/// A task belongs to one server, and only a modern server has tasks (T2). The id is a secret on a server without authentication.
#[test]
fn a_task_belongs_to_its_server() {
    let host = TestHost::new();
    let peer = Peer::new([]);
    let connection = client(pinned(&peer)).connect(&context(&host));
    let other = RemoteTask::new("weather", "track", "SECRET-4711");
    assert!(connection.task(&other).is_err());
    let server = connection.server("parcels").expect("a server");
    let work = async {
        let waits = server.task(&other).await.expect_err("another server");
        let cancels = server.task(&other).cancel().await.expect_err("another server");
        for error in [waits, cancels] {
            assert_eq!(
                (error.to_string(), error.executed()),
                ("The server `parcels` was not called: the task belongs to another server.".into(), Executed::No)
            );
        }
    };
    testing::run(host.run(work)).expect("the requests end");
    assert!(peer.requests().is_empty() && !format!("{other:?}").contains("4711"));

    let initialized = result(json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {} }));
    let legacy = Peer::new([initialized, Answer::new(202, "", "")]);
    let connection = client(at(&legacy).revision(Revision::V2025_11_25)).connect(&context(&host));
    let task = connection.task(&RemoteTask::new("parcels", "track", "t-1")).expect("a server");
    let error = testing::run(host.run(task.into_future())).expect("the call ends").expect_err("a failure");
    assert_eq!(*error.failure(), Failure::Undeclared("tasks, which only servers of revision 2026-07-28 have"));
    assert_eq!(legacy.methods(), ["initialize", "notifications/initialized"]);
}

/// T2, T4: only a modern server answers with a task, and only a call.
#[test]
fn other_answers_cannot_be_tasks() {
    let initialized = result(json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {} }));
    let content = json!({ "content": [] });
    let legacy = Peer::new([initialized, Answer::new(202, "", ""), created(content)]);
    let error = call(at(&legacy).revision(Revision::V2025_11_25), |it| it).0.expect_err("a failure");
    assert_eq!(*error.failure(), Failure::Malformed("is a task, which only servers of revision 2026-07-28 can send"));
    assert_eq!(legacy.methods(), ["initialize", "notifications/initialized", "tools/call"]);

    let peer = Peer::new((0..5).map(|_| created(json!({ "contents": [], "messages": [], "tools": [] }))));
    let host = TestHost::new();
    let server = client(pinned(&peer)).connect(&context(&host)).server("parcels").expect("a server");
    let problem = Failure::Malformed("is a task, which only a tool call can have");
    let work = async {
        assert_eq!(*server.read_resource("parcel:7").await.expect_err("a task").failure(), problem);
        assert_eq!(*server.get_prompt("poem", json!({})).await.expect_err("a task").failure(), problem);
        assert_eq!(*server.list_tools().await.expect_err("a task").failure(), problem);
        assert_eq!(*server.complete_prompt("poem", "about", "r").await.expect_err("a task").failure(), problem);
        let request = server.request("ledger/get", json!({})).result_type("task").await;
        assert_eq!(*request.expect_err("a task").failure(), problem);
    };
    testing::run(host.run(work)).expect("the requests end");
    assert_eq!(peer.requests().len(), 5);
}

/// T5, T13: hostile tasks and states. The client cancels a task whose state is not valid.
#[test]
fn hostile_tasks_have_their_failure() {
    let malformed = |problem| Failure::Malformed(problem);
    let no_status = || malformed("has a task without a known status");
    let no_id = || malformed("has a task without a `taskId`");
    let long = "x".repeat(64 << 10);
    for (case, created_members, expected) in [
        ("no id", json!({ "taskId": null }), no_id()),
        ("an empty id", json!({ "taskId": "" }), no_id()),
        ("a number", json!({ "taskId": 7 }), no_id()),
        (
            "the form of 2025-11-25",
            json!({ "taskId": null, "task": { "taskId": "t-1", "status": "working" } }),
            no_id(),
        ),
        ("a long id", json!({ "taskId": long }), malformed("has a task whose `taskId` is too long")),
        (
            "an id of 1025 bytes",
            json!({ "taskId": "x".repeat(1025) }),
            malformed("has a task whose `taskId` is too long"),
        ),
        ("no status", json!({ "status": null }), no_status()),
        ("an unknown status", json!({ "status": "paused" }), no_status()),
    ] {
        let peer = Peer::new([created(created_members)]);
        let error = call(pinned(&peer), |it| it).0.expect_err(case);
        assert_eq!((error.failure(), error.executed()), (&expected, Executed::Unknown), "{case}");
        assert_eq!(methods(&peer), "call", "{case}");
        assert!(error.to_string().len() < 400, "{case}");
    }
    let question = || form("Where to?", json!({}));
    let many: serde_json::Map<_, _> = (0..1000).map(|nth| (format!("q{nth}"), question())).collect();
    let nested = json!({ "resultType": "task", "taskId": "t-2", "status": "working" });
    for (case, answer, expected) in [
        ("an unknown status", state("paused", json!({})), no_status()),
        ("no status", state("working", json!({ "status": null })), no_status()),
        ("another id", state("working", json!({ "taskId": "t-2" })), malformed("has a task with another `taskId`")),
        ("no id", state("working", json!({ "taskId": null })), malformed("has a task with another `taskId`")),
        ("no result", state("completed", json!({})), malformed("has a completed task without a result")),
        (
            "a list as result",
            state("completed", json!({ "result": [] })),
            malformed("has a completed task without a result"),
        ),
        (
            "a task as result",
            state("completed", json!({ "result": nested })),
            malformed("has a completed task whose result is not complete"),
        ),
        ("a task again", created(json!({})), malformed("is a task, which only a tool call can have")),
        (
            "a round",
            asks(json!({ "q": question() }), json!("s")),
            malformed("asks for input, which only tools, resources and prompts can do"),
        ),
        ("no error", state("failed", json!({})), malformed("has a failed task without a valid error")),
        ("a list of questions", asking(json!([question()])), malformed("has `inputRequests` that are not an object")),
        ("many questions", asking(json!(many)), Failure::LimitExceeded("the server asks too many questions at once")),
        (
            "a long key",
            asking(json!({ "x".repeat(64 << 10): question() })),
            Failure::LimitExceeded("a question is too long"),
        ),
        (
            "a long question",
            asking(json!({ "q": form(&long, json!({})) })),
            Failure::LimitExceeded("a question is too long"),
        ),
        ("an unknown kind", asking(json!({ "q": { "method": "x/y" } })), Failure::CapabilityRequired),
    ] {
        let peer = Peer::new([created(json!({})), answer, acknowledged()]);
        let error = call(pinned(&peer).on_elicitation(|_, _| async { panic!("asked") }), |it| it).0.expect_err(case);
        assert_eq!((error.failure(), error.executed()), (&expected, Executed::Unknown), "{case}");
        assert_eq!(methods(&peer), "call get cancel", "{case}");
    }
}

/// An id of the longest length and with any character is a header, as other names are.
#[test]
fn each_id_is_a_header() {
    for (id, header) in [("x".repeat(1024), "x".repeat(1024)), ("é\r\nX: y".into(), "=?base64?w6kNClg6IHk=?=".into())]
    {
        let done = state("completed", json!({ "taskId": id, "result": { "content": [] } }));
        let peer = Peer::new([created(json!({ "taskId": id })), done]);
        call(pinned(&peer), |it| it).0.expect("a result");
        assert_eq!(peer.requests()[1].headers()["mcp-name"], header);
    }
}

/// A server that asks again and again, or works for ever, does not hold the call for ever.
#[test]
fn an_endless_task_is_left() {
    let asks = |nth: usize| asking(json!({ format!("q{nth}"): form("Again?", json!({})) }));
    let peer = Peer::new([created(json!({}))].into_iter().chain((0..20).flat_map(|nth| [asks(nth), acknowledged()])));
    let upstream = pinned(&peer).on_elicitation(|_, _| async { Ok(FormAnswer::Declined) });
    let error = call(upstream, |it| it).0.expect_err("a failure");
    assert_eq!(*error.failure(), Failure::LimitExceeded("the server asks questions in too many rounds"));
    assert_eq!(methods(&peer).matches("update").count(), 10);

    let endless = || {
        [created(json!({ "pollIntervalMs": 0 }))]
            .into_iter()
            .chain((0..1000).map(|_| state("working", json!({ "pollIntervalMs": 0 }))))
    };
    let peer = Peer::new(endless());
    let (outcome, waits) = call(pinned(&peer), |it| it);
    assert!(matches!(outcome.expect_err("a task").failure(), Failure::StillRunning(_)));
    // By default, the wait takes 5 min.
    assert_eq!((waits.len(), peer.requests().len()), (300, 301));
    let peer = Peer::new(endless());
    let (outcome, _) = call(pinned(&peer), |it| it.task_timeout(Duration::from_mins(9)));
    assert!(matches!(outcome.expect_err("a task").failure(), Failure::StillRunning(_)));
    assert_eq!(peer.requests().len(), 540, "500 requests about tasks, and 40 others");
}

/// The failure of a request about a task says nothing about the task, so the client asks again. A rejection ends the wait.
#[test]
fn an_outage_does_not_end_the_wait() {
    let broken = || Answer::new(502, "text/html", "<p>SECRET-4711</p>");
    let lost = || Answer::new(200, "", "").end(End::NoHead);
    let busy = Answer::new(503, "", "").header("retry-after", "20");
    let question = || asking(json!({ "q": form("Where to?", json!({})) }));
    let peer = Peer::new([
        created(json!({})),
        // Each request is repeated once.
        broken(),
        lost(),
        busy,
        question(),
        lost(),
        lost(),
        acknowledged(),
        completed("in Lyon"),
    ]);
    let upstream = pinned(&peer).on_elicitation(|_, _| async { Ok(FormAnswer::Declined) });
    let (outcome, waits) = call(upstream, |it| it);
    assert_eq!(outcome.expect("a result").text(), "in Lyon");
    assert_eq!(methods(&peer), "call get get get get update update update get");
    let repeated = Duration::from_millis(250);
    let expected = [seconds(&[5]), vec![repeated], seconds(&[5]), seconds(&[20]), vec![repeated], seconds(&[5, 5])];
    assert_eq!(waits, expected.concat());

    let peer = Peer::new([created(json!({}))]);
    let error = call(pinned(&peer), |it| it.task_timeout(Duration::from_secs(20))).0.expect_err("a task");
    assert!(matches!(error.failure(), Failure::StillRunning(_)), "{error:?}");
    assert!(format!("{error:?}").contains("cannot be reached"), "the log has the reason: {error:?}");

    let peer = Peer::new([created(json!({})), Answer::new(403, "text/plain", ""), acknowledged()]);
    let error = call(pinned(&peer), |it| it).0.expect_err("a failure");
    assert_eq!((error.failure(), error.executed()), (&Failure::Forbidden, Executed::Unknown));
    assert_eq!(methods(&peer), "call get cancel");
}

/// A call that is dropped while it waits cancels its task, in the background. A task that the program knows continues.
#[test]
fn a_dropped_call_cancels_its_task() {
    let host = TestHost::new();
    let peer = Peer::new([created(json!({})), working(), acknowledged()]);
    let server = client(pinned(&peer)).connect(&context(&host)).server("parcels").expect("a server");
    let mut call = server.call("track", json!({})).into_future();
    let mut poll = || testing::run(host.run(async { (&mut call).now_or_never().is_none() })).expect("the poll ends");
    assert!(poll());
    host.advance(Duration::from_secs(5));
    assert!(poll());
    assert_eq!(methods(&peer), "call get");
    drop(call);
    testing::run(host.run(async {})).expect("the tasks end");
    assert_eq!(methods(&peer), "call get cancel");
    assert_eq!(body(&peer.requests()[2])["params"]["taskId"], "t-1");

    let peer = Peer::new([working()]);
    let server = client(pinned(&peer)).connect(&context(&host)).server("parcels").expect("a server");
    let mut known = server.task(&RemoteTask::new("parcels", "track", "t-1")).into_future();
    assert!((&mut known).now_or_never().is_none());
    drop(known);
    testing::run(host.run(async {})).expect("the tasks end");
    assert_eq!(methods(&peer), "get");
}

/// T14: a server that does not answer `tasks/cancel` holds nothing.
#[test]
fn a_silent_server_does_not_hold_the_cancellation() {
    let host = TestHost::new();
    let peer = Peer::new([created(json!({})), Answer::new(200, "", "").end(End::SilentBeforeHead)]);
    let server = client(pinned(&peer)).connect(&context(&host)).server("parcels").expect("a server");
    let mut call = server.call("track", json!({})).into_future();
    assert!((&mut call).now_or_never().is_none());
    drop(call);
    testing::run(host.run(async {})).expect("the tasks end");
    assert_eq!((methods(&peer), host.waits()), ("call cancel".into(), seconds(&[2])));
}

/// A server whose tool `send` uses `client`.
fn desk<F, Fut>(client: McpClient, deadline: u64, send: F) -> Endpoint
where
    F: Fn(Server, Context) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<String, HandlerError>> + 'static,
{
    testing::endpoint(move |_| {
        let (client, send) = (client.clone(), send.clone());
        let send = move |cx: Context| {
            let (server, send) = (client.connect(&cx).server("parcels"), send.clone());
            async move { send(server?, cx).await }
        };
        let tool = Tool::new("send", "Sends a parcel.", send).deadline(Duration::from_secs(deadline));
        McpServer::builder("desk", "1.0.0").tool(tool).build()
    })
}

/// The wait ends 2 s before the deadline of the handler, so that the handler can react.
#[test]
fn the_wait_ends_before_the_deadline() {
    let peer = Peer::new([created(json!({})), working(), working(), acknowledged()]);
    let endpoint = desk(client(pinned(&peer)), 10, async |server, cx: Context| {
        let before = cx.now_ms();
        let error = server.call("track", json!({})).await.expect_err("a task");
        assert!(matches!(error.failure(), Failure::StillRunning(_)), "{error:?}");
        Ok(format!("{} ms", cx.now_ms() - before))
    });
    assert_eq!(testing::run(Client::new(&endpoint).call("send", json!({}))).text(), "8000 ms");
    assert_eq!(methods(&peer), "call get get");
}

/// T16, T17: the caller of the program answers the questions of a task, in two rounds. The call is sent once, and each round waits for the same
/// task. The keys name the server, and an unusual key is replaced.
#[test]
fn questions_of_a_task_are_passed_to_the_caller() {
    let city = |text: &str| form(text, json!({ "city": { "type": "string" } }));
    let first = || asking(json!({ "where": city("Where to?"), "odd/key": city("And then?") }));
    let second = || asking(json!({ "sure": form("Sure?", json!({})) }));
    let peer = Peer::new([
        created(json!({ "status": "input_required" })),
        first(),
        first(),
        acknowledged(),
        second(),
        // The server still lists an answered question in the next round.
        asking(json!({ "where": city("Where to?"), "sure": form("Sure?", json!({})) })),
        acknowledged(),
        completed("in Lyon"),
    ]);
    let endpoint = desk(client(pinned(&peer)), 30, async |server, cx: Context| {
        Ok(server.call("track", json!({})).ask_caller(&cx).await?.text())
    });
    let answer = testing::run(
        Client::new(&endpoint)
            .answer("parcels.task.where", json!({ "city": "Lyon" }))
            .answer("parcels.task.#2f9e5374e987182f", json!({ "city": "Bern" }))
            .answer("parcels.task.sure", json!({}))
            .call("send", json!({})),
    );
    assert_eq!(answer.text(), "in Lyon", "{:?}", answer.questions());
    assert_eq!(answer.questions().len(), 3);
    for (key, question) in answer.questions() {
        let message = question["params"]["message"].as_str().expect("a text");
        assert!(key.starts_with("track-") && message.starts_with("[parcels] "), "{key} {message}");
    }
    assert_eq!(methods(&peer), "call get get update get get update get");
    let responses: Vec<_> =
        peer.requests().iter().map(|request| body(request)["params"]["inputResponses"].clone()).collect();
    let answer = |city: &str| json!({ "action": "accept", "content": { "city": city } });
    assert_eq!(responses[3], json!({ "where": answer("Lyon"), "odd/key": answer("Bern") }));
    assert_eq!(responses[6]["sure"], json!({ "action": "accept", "content": {} }));
    // The server may not have got the answer, so it gets the same one.
    assert_eq!(responses[6]["where"], answer("Lyon"));
    let declared = &body(&peer.requests()[1])["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(declared["elicitation"], json!({ "form": {}, "url": {} }));
}

/// T17: a function of the program answers a question once in all rounds, also if the server still lists it in the next round.
#[test]
fn a_function_answers_once_in_all_rounds() {
    let count = Rc::new(Cell::new(0));
    let seen = count.clone();
    let poem = json!({ "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 9 } });
    let both = || asking(json!({ "poem": poem, "sure": form("Sure?", json!({})) }));
    let peer = Peer::new([
        created(json!({})),
        asking(json!({ "poem": poem })),
        acknowledged(),
        both(),
        both(),
        acknowledged(),
        completed("in Lyon"),
    ]);
    let upstream = pinned(&peer).on_sampling(move |_, _| {
        seen.set(seen.get() + 1);
        let text = format!("poem {}", seen.get());
        async move { Ok(edge_mcp::call::ModelAnswer { text, model: "small".into(), stop_reason: None }) }
    });
    let endpoint = desk(client(upstream), 30, async |server, cx: Context| {
        Ok(server.call("track", json!({})).ask_caller(&cx).await?.text())
    });
    let answer = testing::run(Client::new(&endpoint).answer("parcels.task.sure", json!({})).call("send", json!({})));
    assert_eq!((answer.text(), count.get()), ("in Lyon", 1));
    assert_eq!(methods(&peer), "call get update get get update get");
    assert_eq!(body(&peer.requests()[5])["params"]["inputResponses"]["poem"]["content"]["text"], "poem 1");
}

/// A round that ends because of a question of the handler itself does not cancel the task: the next round waits for it again. The person is
/// asked before the task has ended, and not only at the deadline.
#[test]
fn the_next_round_waits_for_the_same_task() {
    for is_known in [false, true] {
        // One round has no time for all states.
        let states = (0..7).map(|_| working()).chain([completed("in Lyon")]);
        let states: Vec<_> = if is_known { states.collect() } else { states.skip(1).collect() };
        let peer = Peer::new((!is_known).then(|| created(json!({}))).into_iter().chain(states));
        let endpoint = desk(client(pinned(&peer)), 30, move |server, cx: Context| async move {
            let track = async {
                let result = if is_known {
                    server.task(&RemoteTask::new("parcels", "track", "t-1")).await?
                } else {
                    server.call("track", json!({})).await?
                };
                Ok::<_, HandlerError>(result.text())
            };
            let is_sure = async {
                cx.step("think", &(), async || Ok(())).await?;
                Ok(cx.confirm("sure", "Sure?").await?)
            };
            let (text, is_sure) = futures::try_join!(track, is_sure)?;
            cx.confirm("again", "Again?").await?;
            Ok(format!("{text} {is_sure}"))
        });
        let host = TestHost::new();
        let client = Client::new(&endpoint).host(&host).answer("sure", json!({})).answer("again", json!({}));
        let answer = testing::run(client.call("send", json!({})));
        assert_eq!((answer.text(), answer.questions().len()), ("in Lyon true", 2), "{is_known}");
        testing::run(host.run(async {})).expect("the tasks end");
        let expected = if is_known { "get get get get get get get get" } else { "call get get get get get get get" };
        assert_eq!(methods(&peer), expected);
    }
}

/// A call that is sent in each round does not continue its task, so the end of the round cancels the task.
#[test]
fn a_task_that_no_round_continues_is_cancelled() {
    let peer = Peer::new([created(json!({})), acknowledged(), modern("in Lyon")]);
    let endpoint = desk(client(pinned(&peer)), 30, async |server, cx: Context| {
        let track = async { Ok::<_, HandlerError>(server.call("track", json!({})).idempotent().await?.text()) };
        let is_sure = async { Ok(cx.confirm("sure", "Sure?").await?) };
        let (text, _) = futures::try_join!(track, is_sure)?;
        Ok(text)
    });
    let client = Client::new(&endpoint).answer("sure", json!({}));
    assert_eq!(testing::run(client.call("send", json!({}))).text(), "in Lyon");
    assert_eq!(methods(&peer), "call cancel call");
}

/// A handler that continues a late task gets the same error in each round.
#[test]
fn a_late_task_is_the_same_in_each_round() {
    let peer = Peer::new([created(json!({})), working()]);
    let endpoint = desk(client(pinned(&peer)), 30, async |server, cx: Context| {
        let error = server.call("track", json!({})).task_timeout(Duration::from_secs(5)).await.expect_err("a task");
        let Failure::StillRunning(task) = error.failure() else { return Err(error.into()) };
        cx.confirm("sure", "Wait for it?").await?;
        Ok(format!("{} {:?}", task.id(), error.executed()))
    });
    let answer = testing::run(Client::new(&endpoint).answer("sure", json!({})).call("send", json!({})));
    assert_eq!(answer.text(), "t-1 Unknown");
    assert_eq!(methods(&peer), "call get");
}

/// A result of a task is a step, as that of a call is.
#[test]
fn the_result_of_a_task_is_a_step() {
    let peer = Peer::new([created(json!({})), completed("in Lyon"), completed("again")]);
    let endpoint = desk(client(pinned(&peer)), 30, async |server, cx: Context| {
        let first = server.call("track", json!({})).await?.text();
        let second = server.task(&RemoteTask::new("parcels", "track", "t-1")).await?.text();
        cx.confirm("sure", "Sure?").await?;
        Ok(format!("{first} {second}"))
    });
    let answer = testing::run(Client::new(&endpoint).answer("sure", json!({})).call("send", json!({})));
    assert_eq!((answer.text(), methods(&peer)), ("in Lyon again", "call get get".to_owned()));
}

/// The caller answers the questions of a task that the program knows. The result is checked as that of a call.
#[test]
fn a_known_task_asks_the_caller() {
    let tool = json!({ "name": "track", "inputSchema": {}, "outputSchema": { "type": "object" } });
    let tool = Definition::from_json(&json!({ "server": "parcels", "tool": tool }).to_string()).expect("a definition");
    let question = || asking(json!({ "sure": form("Sure?", json!({})) }));
    let peer = Peer::new([question(), question(), acknowledged(), completed("in Lyon")]);
    let endpoint = desk(client(pinned(&peer)), 30, move |server, cx: Context| {
        let task = server.task(&RemoteTask::new("parcels", "track", "t-1")).definition(&tool).ask_caller(&cx);
        async move { Ok(task.await.expect_err("no structured content").to_string()) }
    });
    let answer = testing::run(Client::new(&endpoint).answer("parcels.task.sure", json!({})).call("send", json!({})));
    assert!(answer.text().contains("has no structured content") && answer.questions().len() == 1, "{answer:?}");
    assert_eq!(methods(&peer), "get get update get");
}

/// Tools of other servers in a source get the results of tasks. A caller who cannot continue a task does not get one: it is cancelled.
#[test]
fn a_source_waits_for_tasks() {
    let list = || {
        let tools = json!([{ "name": "track", "inputSchema": {} }]);
        result(json!({ "tools": tools, "resultType": "complete", "ttlMs": 60_000, "cacheScope": "private" }))
    };
    let served = |client: McpClient| {
        testing::endpoint(move |_| McpServer::builder("desk", "1.0.0").source(client.tools(["parcels_track"])).build())
    };
    let peer = Peer::new([created(json!({})), completed("in Lyon")]);
    let endpoint = served(client(pinned(&peer)));
    assert_eq!(testing::run(Client::new(&endpoint).call("parcels_track", json!({}))).text(), "in Lyon");

    let peer = Peer::new([created(json!({ "pollIntervalMs": 20_000 })), working(), working(), acknowledged()]);
    let (endpoint, host) = (served(client(pinned(&peer))), TestHost::new());
    let answer = testing::run(Client::new(&endpoint).host(&host).call("parcels_track", json!({})));
    assert!(
        answer.text().starts_with("The server `parcels` did not finish the call: its task was cancelled."),
        "{answer:?}"
    );
    testing::run(host.run(async {})).expect("the tasks end");
    assert_eq!(methods(&peer), "call get get cancel");

    let peer = Peer::new([list(), created(json!({})), working(), completed("in Lyon")]);
    let client = client(pinned(&peer));
    let endpoint = testing::endpoint(move |_| {
        let model = edge_mcp::agents::ChatModel::new("http://localhost:11434/v1", "small").expect("a model");
        let clerk = edge_mcp::agents::ChatAgent::new("clerk", "The clerk", "Knows.", model);
        McpServer::builder("desk", "1.0.0").agent(clerk.source(client.tools(["parcels_track"]))).build()
    });
    let host = model([calls(&[("parcels_track", json!({}))]), text("It is in Lyon.")]);
    let answer = testing::run(Client::new(&endpoint).host(&host).call("ask_clerk", json!({ "message": "Where?" })));
    assert_eq!(answer.text(), "It is in Lyon.");
    let request = asked(&host).pop().expect("a request");
    assert_eq!(request["messages"].as_array().and_then(|it| it.last()).expect("a message")["content"], "in Lyon");
    assert_eq!(methods(&peer), "list call get get");
}
