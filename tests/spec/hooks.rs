//! Hooks: functions that observe tool calls.

use std::borrow::Cow;
use std::cell::RefCell;
use std::future::ready;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::agents::Workflow;
use edge_mcp::call::ToolEvent;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, Endpoint, HandlerError, Json, McpServer, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{Internal, SECRET, legacy};

#[derive(Deserialize, JsonSchema)]
struct Number {
    n: u8,
}

#[derive(Serialize, JsonSchema)]
struct Half {
    half: f64,
}

type Seen = Rc<RefCell<Vec<String>>>;

fn described(event: &ToolEvent) -> String {
    match event {
        ToolEvent::InputStart => "start".into(),
        ToolEvent::InputDelta(text) => format!("delta {text}"),
        ToolEvent::InputAvailable(arguments) => format!("available {arguments}"),
        ToolEvent::Output(result) => format!("output {}", result.structured_content().unwrap_or_default()),
        ToolEvent::Error(message) => format!("error {message}"),
        _ => "unknown".into(),
    }
}

/// Returns an endpoint with a tool that halves a number. One of its hooks fails, and the other one records its events in `seen`.
fn endpoint(seen: &Seen) -> Endpoint {
    let seen = seen.clone();
    testing::endpoint(move |_| {
        let (hooked, called) = (seen.clone(), seen.clone());
        let halve = move |Number { n }: Number| {
            let called = called.clone();
            async move {
                called.borrow_mut().push("execute".into());
                match n {
                    0 => Err(HandlerError::new("Nothing to halve.")),
                    n => Ok(Json(Half { half: f64::from(n) / 2.0 })),
                }
            }
        };
        let tool = Tool::new("halve", "Halves.", halve).hook(|_, _| async { Err(Internal.into()) }).hook(
            move |event, cx: Context| {
                let hooked = hooked.clone();
                async move {
                    assert_eq!(cx.request_id().as_json(), "1");
                    if !matches!(event, ToolEvent::Finished(_)) {
                        hooked.borrow_mut().push(described(&event));
                    }
                    Ok(())
                }
            },
        );
        McpServer::builder("s", "1").tool(tool).build()
    })
}

/// A hook of the server gets the events of all calls, including nested calls and workflows. It runs before the hooks of the tool.
#[test]
fn hooks_of_the_server_observe_all_calls() {
    let seen = Seen::default();
    let of = seen.clone();
    let endpoint = Endpoint::new(move |_| {
        let (all, own) = (of.clone(), of.clone());
        let outer = |cx: Context| async move { Ok::<_, HandlerError>(cx.call_tool("inner", json!({})).await?.text()) };
        let inner = Tool::new("inner", "Inner.", || async { Err::<String, _>(HandlerError::new("No.")) });
        let inner = inner.hook(move |event, _| {
            if let ToolEvent::Finished(call) = &event {
                assert_eq!(call.tool, "inner");
                return ready(Ok(()));
            }
            own.borrow_mut().push(format!("own {}", described(&event)));
            ready(Ok(()))
        });
        McpServer::builder("s", "1")
            .tool(inner)
            .workflow(Workflow::new("outer", "Outer.", outer))
            .hook(move |tool: Cow<'static, str>, event, _| {
                if matches!(event, ToolEvent::Output(_) | ToolEvent::Error(_)) {
                    all.borrow_mut().push(format!("{tool} {}", described(&event)));
                }
                async { Ok(()) }
            })
            .build()
    });
    let endpoint = endpoint.without_auth().without_rate_limit();
    legacy("tools/call", json!({ "name": "run_outer", "arguments": {} })).ask_at(&endpoint);
    let seen = seen.borrow();
    assert_eq!(seen[..5], ["own start", "own delta {}", "own available {}", "inner error No.", "own error No."]);
    assert!(seen[5].starts_with("run_outer output"), "{seen:?}");
}

/// A hook gets the events of successful and failed calls in order. A hook that fails is logged, and does not change the result.
#[test]
fn hooks_observe_each_call_in_order() {
    for (arguments, expected, is_error) in [
        (
            json!({ "n": 3 }),
            vec!["start", "delta {\"n\":3}", "available {\"n\":3}", "execute", "output {\"half\":1.5}"],
            false,
        ),
        (
            json!({ "n": 0 }),
            vec!["start", "delta {\"n\":0}", "available {\"n\":0}", "execute", "error Nothing to halve."],
            true,
        ),
        (
            json!({ "n": "x" }),
            vec![
                "start",
                "delta {\"n\":\"x\"}",
                "error The arguments of `halve` do not fit its input schema:\n- `n` must be an integer (got \"x\")",
            ],
            true,
        ),
    ] {
        let (seen, host) = (Seen::default(), TestHost::new());
        let answer =
            legacy("tools/call", json!({ "name": "halve", "arguments": arguments })).ask_on(&endpoint(&seen), &host);
        assert_eq!(answer.result()["isError"], is_error);
        assert_eq!(*seen.borrow(), expected);
        let failures = host
            .log()
            .into_iter()
            .filter(|line| line["cause"].as_str().is_some_and(|cause| cause.contains("a hook failed")));
        let events = expected.iter().filter(|event| **event != "execute").count();
        assert_eq!(failures.count(), events + 1, "each failure of the hook is logged, also that of the last event");
        assert!(!format!("{answer:?}").contains(SECRET));
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Share {
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    share: f64,
    #[schemars(extend("exclusiveMinimum" = 9_007_199_254_740_992_u64))]
    nanoseconds: Option<f64>,
    id: Option<u64>,
}

/// The schema, the hooks and the handler have the same number. It is rounded before the check, so no number passes a bound on its way.
#[test]
fn the_number_that_is_checked_is_the_number_of_the_handler() {
    let seen = Seen::default();
    let of = seen.clone();
    let endpoint = testing::endpoint(move |_| {
        let hooked = of.clone();
        let tool = Tool::new("divide", "Divides.", async |share: Share| Json(share)).hook(move |event, _| {
            if let ToolEvent::InputAvailable(arguments) = event {
                hooked.borrow_mut().push(arguments.to_string());
            }
            async { Ok(()) }
        });
        McpServer::builder("s", "1").tool(tool).build()
    });
    for (arguments, expected) in [
        (r#"{"share":1e-400}"#, Err("`share` must be greater than 0")),
        (r#"{"share":0.99999999999999999999}"#, Err("`share` must be less than 1")),
        (r#"{"share":0.5,"nanoseconds":9007199254740993}"#, Err("`nanoseconds` must be greater than 9007199254740992")),
        (r#"{"share":0.10000000000000000001}"#, Ok(r#"{"share":0.1}"#)),
        (r#"{"share":0.5,"id":9007199254740993.0}"#, Ok(r#"{"share":0.5,"id":9007199254740993}"#)),
    ] {
        let params = format!(r#"{{"name":"divide","arguments":{arguments}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let answer = legacy("tools/call", json!({})).with_body(body).ask_at(&endpoint);
        let observed = seen.take();
        match expected {
            Err(mistake) => {
                assert!(answer.tool_text().1 && answer.tool_text().0.contains(mistake), "{arguments}: {answer:?}");
                assert_eq!(observed, Vec::<String>::new());
            }
            Ok(number) => {
                let structured = &answer.result()["structuredContent"];
                let present = structured.as_object().expect("an object").iter().filter(|(_, value)| !value.is_null());
                let present: serde_json::Map<_, _> =
                    present.map(|(name, value)| (name.clone(), value.clone())).collect();
                assert_eq!((json!(present).to_string(), observed), (number.to_owned(), vec![number.to_owned()]));
            }
        }
    }
}

/// The last event has the name, the arguments, the outcome and the time of a call together. Its error can be written as JSON.
#[test]
fn the_last_event_has_the_whole_call() {
    let seen = Seen::default();
    let of = seen.clone();
    let endpoint = testing::endpoint(move |_| {
        let of = of.clone();
        let halve = async |Number { n }: Number, cx: Context| {
            cx.sleep(Duration::from_secs(2)).await;
            if n == 0 {
                Err(HandlerError::new("Nothing to halve."))
            } else {
                Ok(Json(Half { half: f64::from(n) / 2.0 }))
            }
        };
        let tool = Tool::new("halve", "Halves.", halve)
            .requires_approval(async |Number { n }: Number, _| Ok((n == 7).then(|| "Halve 7?".into())));
        McpServer::builder("s", "1")
            .tool(tool)
            .hook(move |_: Cow<'static, str>, event, _| {
                if let ToolEvent::Finished(call) = event {
                    let error = call.outcome.as_ref().err();
                    let line = json!({ "tool": call.tool, "arguments": call.arguments, "error": error, "s": call.time.as_secs() });
                    of.borrow_mut().push(line.to_string());
                }
                ready(Ok(()))
            })
            .build()
    });
    let call = |client: Client<'_>, arguments| testing::run(async move { client.call("halve", arguments).await });
    for (arguments, expected) in [
        (json!({ "n": 3 }), r#"{"tool":"halve","arguments":{"n":3},"error":null,"s":2}"#),
        (json!({ "n": 0 }), r#"{"tool":"halve","arguments":{"n":0},"error":"Nothing to halve.","s":2}"#),
    ] {
        call(Client::new(&endpoint), arguments);
        assert_eq!(seen.take(), [expected]);
    }
    call(Client::new(&endpoint), json!({ "n": "x" }));
    let refused = seen.take();
    assert!(refused[0].starts_with(r#"{"tool":"halve","arguments":null,"error":"The arguments of"#), "{refused:?}");
    // The round that asks for approval does not end the call.
    call(Client::new(&endpoint).decline("edge-mcp/approval"), json!({ "n": 7 }));
    let declined = seen.take();
    assert!(declined.len() == 1 && declined[0].contains(r#""arguments":{"n":7},"error":"The call of `halve` was not"#));
}
