//! Steps that run concurrently with a question.

use std::future::Future;
use std::task::Poll;

use edge_mcp::agents::{ChatAgent, Workflow};
use edge_mcp::testing::TestHost;
use edge_mcp::{Context, HandlerError, Json, McpServer, Tool};
use serde_json::json;

use crate::chat_agent::{local, over};
use crate::fake_model::{calls, model, text};
use crate::input_required::{answer_all, retry};
use crate::rounds::{Done, Number, Sum, Yes, ask_on, booking, call, keys, note, open, rounds, with_tool, yes};

/// Returns a future that is pending once.
pub fn yield_once() -> impl Future<Output = ()> {
    let mut has_waited = false;
    std::future::poll_fn(move |task| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
}

/// Returns a workflow that runs two steps concurrently: `charge` yields once, and `confirm` asks a question. If `ends` is false,
/// `charge` never finishes.
fn charging(done: &Done, asks_first: bool, ends: bool) -> Workflow {
    let done = done.clone();
    Workflow::new("charge", "d", move |Number { n }: Number, cx: Context| {
        let done = done.clone();
        async move {
            let charge = cx.step("charge", &n, async || {
                note(&done, "charge");
                if !ends {
                    std::future::pending::<()>().await;
                }
                yield_once().await;
                Ok(n)
            });
            let confirm = cx.step("confirm", &n, async || {
                cx.elicit::<Yes>("confirm", "Sure?").await?;
                Ok(n)
            });
            let (one, other) = if asks_first {
                let (confirmed, charged) = futures::try_join!(confirm, charge)?;
                (charged, confirmed)
            } else {
                futures::try_join!(charge, confirm)?
            };
            note(&done, "end");
            Ok::<_, HandlerError>(Json(Sum { sum: one + other }))
        }
    })
}

#[test]
fn a_step_concurrent_with_a_question_runs_once() {
    for asks_first in [false, true] {
        let done = Done::default();
        let of = done.clone();
        let endpoint = open(move || McpServer::builder("s", "1").workflow(charging(&of, asks_first, true)).build());
        let rounds = rounds(&endpoint, &json!({ "name": "run_charge", "arguments": { "n": 1 } }), &TestHost::new());
        assert_eq!((rounds.len(), rounds[1].tool_text()), (2, ("{\"sum\":2}", false)), "{asks_first}");
        assert_eq!(*done.borrow(), ["charge", "end"], "{asks_first}");
    }
}

#[test]
fn no_step_starts_after_a_question() {
    let done = Done::default();
    let of = done.clone();
    let endpoint = with_tool(
        move || booking(&of),
        |cx| async move {
            let question = cx.elicit::<Yes>("confirm", "Sure?");
            let (answer, booked) = futures::join!(question, call(&cx, "run_book", 1));
            answer?;
            booked
        },
    );
    let params = json!({ "name": "outer" });
    let first = ask_on(&endpoint, &params, &TestHost::new());
    assert!(done.borrow().is_empty());
    let second = ask_on(&endpoint, &retry(&params, &first, answer_all(&first, &yes())), &TestHost::new());
    assert_eq!((second.tool_text(), done.take()), (("{\"sum\":2}", false), vec!["2".to_owned()]));
}

#[test]
fn a_question_is_sent_at_the_deadline_of_an_endless_step() {
    let done = Done::default();
    let of = done.clone();
    let endpoint = open(move || McpServer::builder("s", "1").workflow(charging(&of, false, false)).build());
    let host = TestHost::new();
    let first = ask_on(&endpoint, &json!({ "name": "run_charge", "arguments": { "n": 1 } }), &host);
    assert_eq!(keys(&first), ["confirm"]);
    assert!(host.log_text().contains("`charge` was cancelled"), "{}", host.log_text());
}

#[test]
fn a_question_waits_for_running_steps_of_nested_calls() {
    let done = Done::default();
    let of = done.clone();
    let slow = move || {
        let done = of.clone();
        Workflow::new("slow", "d", move |Number { n }: Number, cx: Context| {
            let done = done.clone();
            async move {
                let work = async || {
                    note(&done, "work");
                    yield_once().await;
                    Ok(Sum { sum: n })
                };
                cx.step("work", &n, work).await.map(Json)
            }
        })
    };
    let endpoint = with_tool(slow, |cx| async move {
        let nested = call(&cx, "run_slow", 1);
        let (nested, answer) = futures::join!(nested, cx.elicit::<Yes>("confirm", "Sure?"));
        answer?;
        nested
    });
    let rounds = rounds(&endpoint, &json!({ "name": "outer" }), &TestHost::new());
    assert_eq!((rounds.len(), rounds[1].tool_text()), (2, ("{\"sum\":1}", false)));
    assert_eq!(*done.borrow(), ["work"]);
}

/// A step runs a workflow with two steps. Its second step cannot start after a question, so the round ends without waiting for the
/// deadline.
#[test]
fn a_step_that_cannot_finish_does_not_delay_a_question() {
    let done = Done::default();
    let of = done.clone();
    let endpoint = open(move || {
        let done = of.clone();
        let inner = Workflow::new("inner", "d", move |Number { n }: Number, cx: Context| {
            let done = done.clone();
            async move {
                let first = async || {
                    note(&done, "first");
                    yield_once().await;
                    Ok(n)
                };
                let n: u32 = cx.step("first", &n, first).await?;
                let second = async || {
                    note(&done, "second");
                    Ok(n)
                };
                cx.step("second", &n, second).await?;
                Ok::<_, HandlerError>(Json(Sum { sum: n }))
            }
        });
        let outer = Workflow::new("outer", "d", |Number { n }: Number, cx: Context| async move {
            let nested = cx.step("nested", &n, async || {
                cx.call_tool("run_inner", json!({ "n": n })).await?;
                Ok(n)
            });
            let confirm = cx.step("confirm", &n, async || {
                cx.elicit::<Yes>("confirm", "Sure?").await?;
                Ok(n)
            });
            let (one, other) = futures::try_join!(nested, confirm)?;
            Ok::<_, HandlerError>(Json(Sum { sum: one + other }))
        });
        McpServer::builder("s", "1").workflow(inner).workflow(outer).build()
    });
    let rounds = rounds(&endpoint, &json!({ "name": "run_outer", "arguments": { "n": 1 } }), &TestHost::new());
    assert_eq!((rounds.len(), rounds[1].tool_text()), (2, ("{\"sum\":2}", false)));
    assert_eq!(*done.borrow(), ["first", "second"]);
}

#[test]
fn a_call_by_an_agent_concurrent_with_a_question_runs_once() {
    let done = Done::default();
    let of = done.clone();
    let endpoint = open(move || {
        let done = of.clone();
        let work = move || {
            note(&done, "work");
            async {
                yield_once().await;
                "worked"
            }
        };
        let outer = |cx: Context| async move {
            let ask = cx.call_tool("ask_clerk", json!({ "message": "Work!" }));
            let (reply, answer) = futures::join!(ask, cx.elicit::<Yes>("confirm", "Sure?"));
            answer?;
            Ok::<_, HandlerError>(reply?.text())
        };
        McpServer::builder("s", "1")
            .tool(Tool::new("work", "Works.", work))
            .agent(ChatAgent::new("clerk", "Clerk", "Works.", local()).tools(["work"]))
            .tool(Tool::new("outer", "d", outer))
            .build()
    });
    let network = model([calls(&[("work", json!({}))]), text("Done.")]);
    let rounds = rounds(&endpoint, &json!({ "name": "outer" }), &over(&network));
    assert_eq!((rounds.len(), rounds[1].tool_text()), (2, ("Done.", false)));
    assert_eq!((done.take(), network.requests().len()), (vec!["work".to_owned()], 2));
}

/// The result type of this step cannot be deserialized from its serialized form.
#[test]
fn a_result_that_cannot_be_read_runs_the_step_again_with_a_warning() {
    #[derive(serde::Deserialize)]
    struct Odd {
        n: u32,
    }
    impl serde::Serialize for Odd {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str("odd")
        }
    }
    let done = Done::default();
    let of = done.clone();
    let outer = move |cx: Context| {
        let done = of.clone();
        async move {
            let odd = cx.step("odd", &1, async || {
                note(&done, "odd");
                Ok(Odd { n: 1 })
            });
            let Odd { n } = odd.await?;
            cx.elicit::<Yes>("confirm", "Sure?").await?;
            Ok::<_, HandlerError>(n.to_string())
        }
    };
    let endpoint = open(move || McpServer::builder("s", "1").tool(Tool::new("outer", "d", outer.clone())).build());
    let host = TestHost::new();
    let rounds = rounds(&endpoint, &json!({ "name": "outer" }), &host);
    assert_eq!(rounds[1].tool_text(), ("1", false));
    assert_eq!(*done.borrow(), ["odd", "odd"]);
    assert!(host.log_text().contains("the stored result of step `odd` cannot be read"), "{}", host.log_text());
}

/// The idempotency key of a step is the same in each round of its call, and differs from the key outside of the step.
#[test]
fn the_idempotency_key_of_a_step_is_the_same_in_each_round() {
    let seen = Done::default();
    let of = seen.clone();
    let endpoint = with_tool(
        move || booking(&Done::default()),
        move |cx| {
            let seen = of.clone();
            async move {
                let attempt = async || {
                    note(&seen, cx.idempotency_key()?);
                    Err::<(), _>(HandlerError::new("Not now."))
                };
                // The state carries only `Ok` results, so this step runs in each round.
                let failed = cx.step("charge", &1, attempt).await;
                assert!(failed.is_err(), "the step fails in each round");
                note(&seen, cx.idempotency_key()?);
                cx.elicit::<Yes>("confirm", "Sure?").await?;
                Ok("done".to_owned())
            }
        },
    );
    let params = json!({ "name": "outer" });
    assert_eq!(rounds(&endpoint, &params, &TestHost::new()).len(), 2);
    let keys = seen.take();
    let [first, outside, second, outside_again] = &*keys else { panic!("{keys:?}") };
    assert_eq!((first, outside), (second, outside_again), "the rounds of a call share their keys");
    assert_ne!(first, outside, "outside of steps, the key belongs to the call");
}
