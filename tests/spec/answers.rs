//! Answers, and the questions that they belong to.

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::testing::TestHost;
use edge_mcp::{
    BuildError, ChatAgent, Context, Endpoint, HandlerError, Limits, McpServer, ProtectedResource, Tool, Workflow,
};
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

/// A tool that asks whether to pay a price, which changes between rounds.
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
fn an_answer_is_good_for_its_question_alone() {
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
    assert!(is_asked(&third), "the answer to the first question was forgotten: {third:?}");
    let last = ask(&retry(&params, &third, answer_all(&third, &yes())));
    assert_eq!(last.tool_text(), ("10: true", false));
}

/// Rule 78: extra keys are ignored, and so are answers in a request that brings no state.
#[test]
fn what_was_not_asked_is_not_answered() {
    let endpoint = paying(&Rc::new(Cell::new(10)));
    let params = json!({ "name": "pay" });
    let with = |responses: Value| {
        let mut params = params.clone();
        params["inputResponses"] = responses;
        ask_on(&endpoint, &params, &TestHost::new())
    };
    for responses in [json!({ "confirm": yes() }), json!({ "other": yes() }), json!({})] {
        assert!(is_asked(&with(responses)), "a request without a state was asked nothing");
    }
    let first = with(json!({}));
    let unasked = ask_on(&endpoint, &retry(&params, &first, json!({ "other": 7 })), &TestHost::new());
    assert!(is_asked(&unasked), "an unknown key is ignored: {unasked:?}");
}

#[derive(Deserialize, JsonSchema)]
struct File {
    file: String,
}

/// A tool that asks before it deletes.
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
fn each_deletion_of_an_agent_is_confirmed_by_itself() {
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
    assert!(is_asked(&unbound) && deleted.borrow().is_empty(), "the handler's own key is not the client's");
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

/// Two steps that call one tool with the same arguments: the second is not reached before the first is done, and finds no answer.
#[test]
fn equal_calls_of_two_steps_are_confirmed_each() {
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
            // The outermost call's own key stays as it is.
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
    let second_a = asked.iter().find(|key| key.contains(".2/")).expect("the ordinal of an equal call");
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
fn a_key_of_the_outermost_call_is_never_that_of_a_nested_one() {
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
        assert_eq!(keys(&ask(key, &TestHost::new())), [key], "it stays as the handler has written it");
    }
    let host = TestHost::new();
    assert_eq!(ask(&nested, &host).refusal(), (200, -32603));
    assert!(host.log_text().contains(&nested), "{}", host.log_text());
}

#[test]
fn one_key_may_ask_one_question_after_another() {
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

/// Rule 76: a state belongs to the server's name, and to the URL that its endpoint is configured with.
#[test]
fn a_state_of_one_server_is_not_good_at_another() {
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

/// What a call may have to remember: results of steps of so many bytes each, so many of them, and questions.
#[derive(Clone, Copy, Deserialize, JsonSchema, Serialize)]
struct Much {
    runs: u32,
    bytes: usize,
    questions: u32,
}

fn remembering() -> Endpoint {
    open(|| {
        let fill = Workflow::new("fill", "d", |much: Much, cx: Context| async move {
            let bytes: usize = cx.step("read", &much, async || Ok(much.bytes)).await?;
            cx.step("text", &bytes, async || Ok("x".repeat(bytes))).await
        });
        let outer = |much: Much, cx: Context| async move {
            for run in 0..much.runs {
                let arguments = json!({ "runs": run, "bytes": much.bytes, "questions": 0 });
                cx.call_tool("run_fill", arguments).await?;
            }
            let ask = |nth: u32| {
                let cx = cx.clone();
                async move { confirmed(&cx, &nth.to_string(), "Sure?".into()).await }
            };
            futures::future::try_join_all((0..much.questions).map(ask)).await?;
            Ok::<_, HandlerError>("done")
        };
        McpServer::builder("s", "1").workflow(fill).tool(Tool::new("outer", "d", outer)).build()
    })
}

#[test]
fn what_a_call_remembers_is_bounded() {
    let endpoint = remembering();
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
            Some("") => assert_eq!(answer.tool_text(), ("done", false), "a call that does not ask has no such limit"),
            Some(says) => {
                assert_eq!(answer.refusal(), (200, -32603), "{runs} {bytes} {questions}");
                assert!(answer.message().contains("Ask for less at once."), "{}", answer.message());
                assert!(host.log_text().contains(says), "{}", host.log_text());
            }
        }
    }
}

#[test]
fn the_limit_of_a_state_can_be_set() {
    let mut limits = Limits::default();
    limits.state = 2000;
    let endpoint = remembering().limits(limits);
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
