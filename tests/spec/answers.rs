//! Answers to questions: each is valid only for its question, its call and its server.

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::agents::{ChatAgent, Workflow};
use edge_mcp::auth::ProtectedResource;
use edge_mcp::testing::TestHost;
use edge_mcp::{BuildError, Context, Endpoint, HandlerError, Limits, McpServer, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chat_agent::{local, over};
use crate::fake_model::{calls, model, text};
use crate::input_required::{answer_all, retry};
use crate::rounds::{Done, Yes, ask_on, keys, open, rounds, yes};
use crate::support::Answer;

fn is_asked(answer: &Answer) -> bool {
    answer.result()["resultType"] == "input_required"
}

async fn confirmed(cx: &Context, key: &str, question: String) -> Result<bool, HandlerError> {
    Ok(cx.elicit::<Yes>(key, question).await?.accepted().is_some_and(|answer| answer.yes))
}

/// Returns an endpoint with a tool that asks whether to pay `price`. A test can change the price between rounds.
fn paying(price: &Rc<Cell<u32>>) -> Endpoint {
    let price = price.clone();
    open(move || {
        let price = price.clone();
        let pay = move |cx: Context| {
            let price = price.get();
            async move {
                Ok::<_, HandlerError>(format!("{price}: {}", confirmed(&cx, "confirm", format!("Pay {price}?")).await?))
            }
        };
        McpServer::builder("s", "1").tool(Tool::new("pay", "Pays.", pay)).build()
    })
}

#[test]
fn an_answer_is_valid_only_for_its_question() {
    let price = Rc::new(Cell::new(10));
    let endpoint = paying(&price);
    let (params, host) = (json!({ "name": "pay" }), TestHost::new());
    let ask = |params: &Value| ask_on(&endpoint, params, &host);
    let first = ask(&params);
    price.set(1_000_000);
    let second = ask(&retry(&params, &first, answer_all(&first, &yes())));
    assert_eq!(second.result()["inputRequests"]["confirm"]["params"]["message"], "Pay 1000000?");
    assert!(host.log_text().contains("question \\\"confirm\\\" was asked again"), "{}", host.log_text());
    assert!(!host.log_text().contains("1000000") && !host.log_text().contains("Pay"), "{}", host.log_text());
    price.set(10);
    let third = ask(&retry(&params, &second, json!({})));
    assert!(is_asked(&third), "the state no longer has the answer to the first question: {third:?}");
    let last = ask(&retry(&params, &third, answer_all(&third, &yes())));
    assert_eq!(last.tool_text(), ("10: true", false));
}

/// Rule 78: answers with unknown keys are ignored, and so are answers in a request without a state.
#[test]
fn answers_without_a_question_are_ignored() {
    let endpoint = paying(&Rc::new(Cell::new(10)));
    let params = json!({ "name": "pay" });
    let with = |responses: Value| {
        let mut params = params.clone();
        params["inputResponses"] = responses;
        ask_on(&endpoint, &params, &TestHost::new())
    };
    for responses in [json!({ "confirm": yes() }), json!({ "other": yes() }), json!({})] {
        assert!(is_asked(&with(responses)), "without a state, the question is pending");
    }
    let first = with(json!({}));
    let unasked = ask_on(&endpoint, &retry(&params, &first, json!({ "other": 7 })), &TestHost::new());
    assert!(is_asked(&unasked), "an unknown key is ignored: {unasked:?}");
}

#[derive(Deserialize, JsonSchema)]
struct File {
    file: String,
}

/// Returns a tool that asks before it deletes a file. It records the deleted files in `deleted`.
fn delete(deleted: &Done) -> Tool {
    let deleted = deleted.clone();
    let delete = move |File { file }: File, cx: Context| {
        let deleted = deleted.clone();
        async move {
            if confirmed(&cx, "confirm", format!("Delete {file}?")).await? {
                deleted.borrow_mut().push(file.clone());
                return Ok::<_, HandlerError>(format!("deleted {file}"));
            }
            Ok(format!("kept {file}"))
        }
    };
    Tool::new("delete", "Deletes a file.", delete)
}

#[test]
fn each_deletion_by_an_agent_needs_its_own_confirmation() {
    let deleted = Done::default();
    let of = deleted.clone();
    let endpoint = open(move || {
        let agent = ChatAgent::new("clerk", "Clerk", "Deletes.", local()).tools(["delete"]);
        McpServer::builder("s", "1").tool(delete(&of)).agent(agent).build()
    });
    let file = |name: &str| ("delete", json!({ "file": name }));
    let network = model([calls(&[file("old.tmp"), file("thesis.doc"), file("old.tmp")]), text("Done.")]);
    let host = over(&network);
    let params = json!({ "name": "ask_clerk", "arguments": { "message": "Clean up" } });
    let first = ask_on(&endpoint, &params, &host);
    let unbound = ask_on(&endpoint, &retry(&params, &first, json!({ "confirm": yes() })), &host);
    assert!(
        is_asked(&unbound) && deleted.borrow().is_empty(),
        "the client must use the nested key, not the key of the handler"
    );
    let second = ask_on(&endpoint, &retry(&params, &first, answer_all(&first, &yes())), &host);
    assert_eq!(*deleted.borrow(), ["old.tmp"]);
    let message = |answer: &Answer| answer.result()["inputRequests"][&keys(answer)[0]]["params"]["message"].clone();
    assert_eq!(message(&second), "Delete thesis.doc?");
    let decline = json!({ "action": "decline" });
    let third = ask_on(&endpoint, &retry(&params, &second, answer_all(&second, &decline)), &host);
    assert_eq!(message(&third), "Delete old.tmp?", "an equal call asks again");
    let mut asked = [&first, &second, &third].map(|round| keys(round).remove(0)).to_vec();
    assert!(asked.iter().all(|key| key.starts_with("delete-") && key.ends_with("/confirm")), "{asked:?}");
    asked.dedup();
    assert_eq!(asked.len(), 3, "{asked:?}");
    let last = ask_on(&endpoint, &retry(&params, &third, answer_all(&third, &decline)), &host);
    assert_eq!((last.tool_text(), deleted.take()), (("Done.", false), vec!["old.tmp".to_owned()]));
}

/// Two steps call one tool with the same arguments. The second call starts after the first step has finished, and asks again.
#[test]
fn equal_calls_in_two_steps_need_two_confirmations() {
    let deleted = Done::default();
    let of = deleted.clone();
    let endpoint = open(move || {
        let workflow = Workflow::new("twice", "d", |cx: Context| async move {
            for step in ["first", "second"] {
                let delete = async || {
                    cx.call_tool("delete", json!({ "file": "a" })).await?;
                    Ok(())
                };
                cx.step(step, &(), delete).await?;
            }
            Ok::<_, HandlerError>("done")
        });
        McpServer::builder("s", "1").tool(delete(&of)).workflow(workflow).build()
    });
    let rounds = rounds(&endpoint, &json!({ "name": "run_twice" }), &TestHost::new());
    assert_eq!((rounds.len(), deleted.take()), (3, vec!["a".to_owned(), "a".to_owned()]));
    assert_ne!(keys(&rounds[0]), keys(&rounds[1]));
}

#[test]
fn parallel_calls_of_one_tool_ask_in_one_round() {
    let deleted = Done::default();
    let of = deleted.clone();
    let endpoint = open(move || {
        let all = |cx: Context| async move {
            let delete = |file: &str| cx.call_tool("delete", json!({ "file": file }));
            let (a, b, again) = futures::try_join!(delete("a"), delete("b"), delete("a"))?;
            // A key of the outermost call is sent unchanged.
            confirmed(&cx, "confirm", "All?".into()).await?;
            Ok::<_, HandlerError>([a.text(), b.text(), again.text()].join(", "))
        };
        McpServer::builder("s", "1").tool(delete(&of)).tool(Tool::new("all", "d", all)).build()
    });
    let params = json!({ "name": "all" });
    let first = ask_on(&endpoint, &params, &TestHost::new());
    let asked = keys(&first);
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert_eq!(asked.iter().filter(|key| key.contains(".2/")).count(), 1, "{asked:?}");
    let mut responses = answer_all(&first, &yes());
    let second_a = asked.iter().find(|key| key.contains(".2/")).expect("a key with the number of an equal call");
    responses[second_a] = json!({ "action": "decline" });
    let second = ask_on(&endpoint, &retry(&params, &first, responses), &TestHost::new());
    assert_eq!(keys(&second), ["confirm"]);
    let last = ask_on(&endpoint, &retry(&params, &second, answer_all(&second, &yes())), &TestHost::new());
    assert_eq!(last.tool_text(), ("deleted a, deleted b, kept a", false));
}

#[derive(Deserialize, JsonSchema)]
struct Key {
    key: String,
}

#[test]
fn keys_of_the_outermost_call_cannot_equal_nested_keys() {
    let deleted = Done::default();
    let of = deleted.clone();
    let endpoint = open(move || {
        let nested = |cx: Context| async move {
            Ok::<_, HandlerError>(cx.call_tool("delete", json!({ "file": "a" })).await?.text())
        };
        let ask = |Key { key }: Key, cx: Context| async move {
            confirmed(&cx, &key, "Delete a?".into()).await.map(|answer| answer.to_string())
        };
        McpServer::builder("s", "1")
            .tool(delete(&of))
            .tool(Tool::new("nested", "d", nested))
            .tool(Tool::new("ask", "d", ask))
            .build()
    });
    let nested = keys(&ask_on(&endpoint, &json!({ "name": "nested" }), &TestHost::new())).remove(0);
    let ask =
        |key: &str, host: &TestHost| ask_on(&endpoint, &json!({ "name": "ask", "arguments": { "key": key } }), host);
    for key in ["confirm", "delete/confirm", "delete-3f2a/confirm", "a/b-01234567/c", "delete-01234567"] {
        assert_eq!(keys(&ask(key, &TestHost::new())), [key], "the key of the handler is sent unchanged");
    }
    let host = TestHost::new();
    assert_eq!(ask(&nested, &host).refusal(), (200, -32603));
    assert!(host.log_text().contains(&nested), "{}", host.log_text());
}

#[test]
fn one_key_can_be_used_for_successive_questions() {
    let endpoint = open(|| {
        let two = |cx: Context| async move {
            let first = confirmed(&cx, "confirm", "Once?".into()).await?;
            Ok::<_, HandlerError>(format!("{first} {}", confirmed(&cx, "confirm", "Twice?".into()).await?))
        };
        McpServer::builder("s", "1").tool(Tool::new("two", "d", two)).build()
    });
    let rounds = rounds(&endpoint, &json!({ "name": "two" }), &TestHost::new());
    assert_eq!((rounds.len(), rounds[2].tool_text()), (3, ("true true", false)));
}

/// Rule 76: a state is bound to the name of the server and to the configured URL of its endpoint.
#[test]
fn a_state_is_rejected_by_other_servers() {
    let of = |name: &'static str, url: Option<&'static str>| {
        let build = move || -> Result<McpServer, BuildError> {
            let ask = |cx: Context| async move { confirmed(&cx, "confirm", "Sure?".into()).await.map(|_| "done") };
            McpServer::builder(name, "1").tool(Tool::new("ask", "d", ask)).build()
        };
        let endpoint = open(build);
        match url {
            Some(url) => endpoint.resource(ProtectedResource::at(url).expect("a URL")),
            None => endpoint,
        }
    };
    let params = json!({ "name": "ask" });
    let servers =
        [("a", None), ("b", None), ("a", Some("https://a.example.com/mcp")), ("a", Some("https://b.example.com/mcp"))];
    for issuer in servers {
        let first = ask_on(&of(issuer.0, issuer.1), &params, &TestHost::new());
        for (name, url) in servers {
            let next = retry(&params, &first, answer_all(&first, &yes()));
            let second = ask_on(&of(name, url), &next, &TestHost::new());
            if (name, url) == issuer {
                assert_eq!(second.tool_text(), ("done", false));
            } else {
                assert_eq!(second.refusal(), (200, -32602), "{issuer:?} {name} {url:?}");
                assert_eq!(second.error()["data"], json!({ "reason": "invalid_request_state" }));
            }
        }
    }
}

/// The size of the data that a call keeps for its next round: the number of workflow runs, the length of the text result of each
/// run in bytes, and the number of questions.
#[derive(Clone, Copy, Deserialize, JsonSchema, Serialize)]
struct Load {
    runs: u32,
    bytes: usize,
    questions: u32,
}

/// Returns an endpoint with a tool that runs steps and asks questions as a [`Load`] describes.
fn endpoint_with_load() -> Endpoint {
    open(|| {
        let fill = Workflow::new("fill", "d", |load: Load, cx: Context| async move {
            let bytes: usize = cx.step("read", &load, async || Ok(load.bytes)).await?;
            cx.step("text", &bytes, async || Ok("x".repeat(bytes))).await
        });
        let outer = |load: Load, cx: Context| async move {
            for run in 0..load.runs {
                let arguments = json!({ "runs": run, "bytes": load.bytes, "questions": 0 });
                cx.call_tool("run_fill", arguments).await?;
            }
            let ask = |nth: u32| {
                let cx = cx.clone();
                async move { confirmed(&cx, &nth.to_string(), "Sure?".into()).await }
            };
            futures::future::try_join_all((0..load.questions).map(ask)).await?;
            Ok::<_, HandlerError>("done")
        };
        McpServer::builder("s", "1").workflow(fill).tool(Tool::new("outer", "d", outer)).build()
    })
}

#[test]
fn the_state_of_a_call_is_bounded() {
    let endpoint = endpoint_with_load();
    for (runs, bytes, questions, says) in [
        (3, 10, 256, None),
        (3, 10, 257, Some("more than 256 questions")),
        (512, 10, 1, None),
        (513, 10, 1, Some("more than 1024 steps")),
        (1, 300_000, 1, None),
        (1, 400_000, 1, Some("bytes (limit: 524288)")),
        (2, 300_000, 1, Some("`text` does not fit into the 524288 bytes")),
        (600, 1000, 0, Some("")),
        (2, 300_000, 0, Some("")),
    ] {
        let host = TestHost::new();
        let params = json!({ "name": "outer", "arguments": { "runs": runs, "bytes": bytes, "questions": questions } });
        let answer = ask_on(&endpoint, &params, &host);
        match says {
            None => assert!(is_asked(&answer), "{runs} {bytes} {questions}: {answer:?}"),
            Some("") => assert_eq!(answer.tool_text(), ("done", false), "calls without a question are not limited"),
            Some(says) => {
                assert_eq!(answer.refusal(), (200, -32603), "{runs} {bytes} {questions}");
                assert!(answer.message().contains("Ask for less in one request."), "{}", answer.message());
                assert!(host.log_text().contains(says), "{}", host.log_text());
            }
        }
    }
}

#[test]
fn the_limit_of_the_state_is_configurable() {
    let mut limits = Limits::default();
    limits.state = 2000;
    let endpoint = endpoint_with_load().limits(limits);
    for (bytes, fits) in [(100, true), (1900, false), (3000, false)] {
        let params = json!({ "name": "outer", "arguments": { "runs": 1, "bytes": bytes, "questions": 1 } });
        let answer = ask_on(&endpoint, &params, &TestHost::new());
        if fits {
            assert!(is_asked(&answer), "{bytes}: {answer:?}");
        } else {
            assert_eq!(answer.refusal(), (200, -32603), "{bytes}");
        }
    }
}
