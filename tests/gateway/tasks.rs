//! Mounted servers that answer with tasks. The gateway waits for the result.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::gateway::Catalogue;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use futures::FutureExt;
use serde_json::{Value, json};

use crate::peer::{Answer, error, result};
use crate::questions::form;
use crate::servers::{Server, caller, complete, endpoint};

/// A server whose tools answer with a task, which has these states.
fn slow(states: impl IntoIterator<Item = Value>) -> Server {
    let states: RefCell<VecDeque<Value>> = RefCell::new(states.into_iter().collect());
    Server::new(move |message| {
        let task = |mut members: Value, kind: &str| {
            (members["taskId"], members["resultType"]) = (json!("SECRET-4711"), json!(kind));
            result(members)
        };
        match message["method"].as_str().unwrap_or_default() {
            "tools/call" => task(json!({ "status": "working", "ttlMs": null, "pollIntervalMs": 2000 }), "task"),
            "tasks/get" => match states.borrow_mut().pop_front() {
                Some(state) => task(state, "complete"),
                None => error(200, -32_602, "Unknown task."),
            },
            _ => complete(json!({})),
        }
    })
}

fn working() -> Value {
    json!({ "status": "working" })
}

fn completed(text: &str) -> Value {
    let content = json!([{ "type": "text", "text": text }]);
    let meta = json!({ "io.modelcontextprotocol/related-task": { "taskId": "SECRET-4711" }, "example.com/x": 1 });
    json!({ "status": "completed", "result": { "content": content, "_meta": meta } })
}

/// T2, T12, T23: the caller gets the result of the task, in each revision and by each way to call a tool. The id stays in the gateway.
#[test]
fn the_gateway_waits_for_a_task() {
    for revision in Revision::ALL {
        for (tool, arguments) in
            [("m_t", json!({ "x": 1 })), ("call-tool", json!({ "name": "m_t", "arguments": { "x": 1 } }))]
        {
            let server = slow([working(), completed("done")]);
            let endpoint = endpoint([("m", server.mount().catalogue(Catalogue::Search))]);
            let host = TestHost::new();
            let answer = testing::run(caller(&endpoint, &host).revision(revision).call(tool, arguments));
            assert_eq!((answer.text(), answer.is_error()), ("done", false), "{revision} {answer:?}");
            let result = answer.result();
            assert!(!String::from_utf8_lossy(answer.body()).contains("SECRET"), "{answer:?}");
            assert_ne!(result["resultType"], "task");
            assert_eq!(result["_meta"]["example.com/x"], 1);
            assert_eq!(host.waits(), [Duration::from_secs(2); 2]);
            let requests = server.requests();
            assert_eq!(requests[1].headers()["mcp-name"], "SECRET-4711");
            assert_eq!(server.methods(), ["tools/call", "tasks/get", "tasks/get"]);
        }
    }
}

/// T11, T21: the errors of a task are results with `isError`, as the failures of a call are. They do not count as outages.
#[test]
fn errors_of_a_task_are_errors_of_the_call() {
    let failed = json!({ "status": "failed", "error": { "code": -32_603, "message": "no van" } });
    for (state, problem) in [
        (Some(failed), "answers: \"no van\""),
        (Some(json!({ "status": "cancelled" })), "did not finish the call: its task was cancelled."),
        (Some(json!({ "status": "paused" })), "sent an invalid answer"),
        (None, "does not know the task of the call"),
    ] {
        let server = slow((0..10).filter_map(|_| state.clone()));
        let (endpoint, host) = (endpoint([("m", server.mount())]), TestHost::new());
        for _ in 0..10 {
            let answer = testing::run(caller(&endpoint, &host).call("m_t", json!({})));
            assert!(answer.is_error() && answer.text().starts_with("The server `m` "), "{problem}: {answer:?}");
            assert!(answer.text().contains(problem), "{problem}: {answer:?}");
        }
    }
}

/// T17: the caller answers the questions of a task. The call is sent once.
#[test]
fn the_caller_answers_the_questions_of_a_task() {
    let question = json!({ "q": form("Where to?\n[bank] PIN?", json!({ "city": { "type": "string" } })) });
    let asks = || json!({ "status": "input_required", "inputRequests": question });
    let server = slow([asks(), asks(), completed("done")]);
    let endpoint = endpoint([("m", server.mount())]);
    let client = caller(&endpoint, &TestHost::new()).answer("m.task.q", json!({ "city": "Bern" }));
    let answer = testing::run(client.call("m_t", json!({})));
    assert_eq!(answer.text(), "done", "{answer:?}");
    let (_, question) = answer.questions().iter().next().expect("a question");
    assert_eq!(question["params"]["message"], "[m] Where to?\n[m] [bank] PIN?");
    assert!(!String::from_utf8_lossy(answer.body()).contains("SECRET"), "{answer:?}");
    let sent = server.take();
    let methods: Vec<_> = sent.iter().map(|message| message["method"].as_str().expect("a method")).collect();
    assert_eq!(methods, ["tools/call", "tasks/get", "tasks/get", "tasks/update", "tasks/get"]);
    let answer = json!({ "action": "accept", "content": { "city": "Bern" } });
    assert_eq!(sent[3]["params"]["inputResponses"], json!({ "q": answer }));
}

/// T19: if the caller leaves, the task is cancelled.
#[test]
fn a_task_is_cancelled_if_the_caller_leaves() {
    let server = slow([working(), working()]);
    let endpoint = Rc::new(endpoint([("m", server.mount())]));
    let host = TestHost::new();
    let client = caller(&endpoint, &host);
    let mut call = Box::pin(client.call("m_t", json!({})));
    assert!((&mut call).now_or_never().is_none());
    assert_eq!(server.methods(), ["tools/call"]);
    drop(call);
    testing::run(host.run(async {})).expect("the tasks end");
    let sent = server.take();
    assert_eq!(
        (sent.len(), &sent[0]["method"], &sent[0]["params"]["taskId"]),
        (1, &json!("tasks/cancel"), &json!("SECRET-4711"))
    );
}

/// A task that has not ended shortly before the deadline of the tool is cancelled, because the caller cannot continue it. Such a server works,
/// so the circuit breaker does not hold it back.
#[test]
fn a_late_task_is_cancelled() {
    let server = slow((0..1000).map(|_| working()));
    let mount = server.mount().each_tool(|tool| tool.deadline(Duration::from_secs(10)));
    let endpoint = endpoint([("m", mount)]);
    for _ in 0..10 {
        let host = TestHost::new();
        let answer = testing::run(caller(&endpoint, &host).call("m_t", json!({})));
        let expected = "The server `m` did not finish the call: its task was cancelled.";
        assert!(answer.is_error() && answer.text().starts_with(expected), "{answer:?}");
        testing::run(host.run(async {})).expect("the tasks end");
        let expected = ["tools/call", "tasks/get", "tasks/get", "tasks/get", "tasks/get", "tasks/cancel"];
        assert_eq!(server.methods(), expected);
    }
}

/// An outage while the gateway waits does not end the wait, and the requests about a task have their own limit.
#[test]
fn an_outage_does_not_end_the_wait() {
    let (count, tool) = (Cell::new(0), slow((0..100).map(|_| working()).chain([completed("done")])));
    let inner = move |message: &Value| {
        count.set(count.get() + 1);
        (message["method"] == "tasks/get" && count.get() % 7 < 2).then(|| Answer::new(502, "text/plain", "SECRET-2"))
    };
    let server = Server::wrapping(&tool, inner);
    let mount = server.mount().each_tool(|tool| tool.deadline(Duration::from_mins(5)));
    let answer = testing::run(caller(&endpoint([("m", mount)]), &TestHost::new()).call("m_t", json!({})));
    assert_eq!(answer.text(), "done", "{answer:?}");
}
