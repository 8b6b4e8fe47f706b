//! Calls that may have effects: they are sent again only after a proof that the server did not execute them.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{ClientError, Executed, Failure};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, HandlerError, McpServer, Tool};
use serde_json::json;

use crate::calls::{at, client, context, modern};
use crate::peer::{Answer, End, Peer, error, result};
use crate::questions::{asks, form};
use crate::scripted::{
    CODES, Call, Failing, Form, OFFERS, STATUSES, Scripted, Server, Shop, check, client_of, pay, run,
};

/// All answers: each status with a page and with each code, and answers that break.
fn answers() -> Vec<Failing> {
    let errors = |status| {
        let codes =
            CODES.into_iter().filter(|code| *code != -32_022).map(move |code| Failing::Error(status, code, &[]));
        codes.chain(OFFERS.map(|offered| Failing::Error(status, -32_022, offered)))
    };
    let other = [Failing::NoHead, Failing::Broken { is_stream: true }, Failing::Broken { is_stream: false }];
    STATUSES.into_iter().flat_map(|status| errors(status).chain([Failing::Page(status)])).chain(other).collect()
}

/// Makes a call at a known server that gives this answer to the next calls. It executes each call, unless the answer denies this.
fn pay_after(
    server: Server,
    failing: Failing,
    count: usize,
    is_set: bool,
    has_credentials: bool,
) -> (Result<String, ClientError>, Vec<Call>) {
    let left = Rc::new(Cell::new(0));
    let of_script = left.clone();
    let shop = Shop::new(server, move |method, form| {
        let fails = method == "tools/call" && of_script.get() > 0;
        fails.then(|| {
            of_script.set(of_script.get() - 1);
            Scripted { failing, executes: !failing.denies_execution(form) }
        })
    });
    let upstream = if is_set { shop.upstream().revision(server.revision()) } else { shop.upstream() };
    let client = client_of(upstream, has_credentials);
    assert_eq!(pay(&client).expect("a result"), "paid");
    drop(shop.take());
    left.set(count);
    let outcome = pay(&client);
    (outcome, shop.take().0)
}

/// Returns whether the client can send a call again after this answer.
fn can_repeat(form: Form, failing: Failing, is_set: bool, has_credentials: bool) -> bool {
    let is_repeated = match failing {
        Failing::Page(401) | Failing::Error(401, ..) => has_credentials,
        // The server supports no session, so `initialize` fails.
        Failing::Error(400, -32_022, offered) => offered.contains(&"2026-07-28") || is_set && offered.len() > 1,
        _ => true,
    };
    failing.permits_repetition(form) && is_repeated
}

/// C36, C52: for each kind of server, each setting of the client, and each answer, the number of calls and effects, and what the error says
/// about them.
#[test]
fn a_call_is_repeated_only_after_a_proof() {
    let mut cases = 0;
    for (server, form) in [
        (Server::Modern, Form::Modern),
        (Server::WithSessions, Form::OfSession),
        (Server::WithoutSessions, Form::Legacy),
    ] {
        for failing in answers() {
            for (is_set, has_credentials) in [(false, true), (true, false)] {
                let case = format!("{server:?} {failing:?} {is_set} {has_credentials}");
                let is_repeated = can_repeat(form, failing, is_set, has_credentials);
                for count in [1, usize::MAX] {
                    let (outcome, calls) = pay_after(server, failing, count, is_set, has_credentials);
                    check(&outcome, &calls);
                    assert_eq!(calls.len(), if is_repeated { 2 } else { 1 }, "{case}");
                    assert_eq!(outcome.is_ok(), is_repeated && count == 1, "{case}: {outcome:?}");
                    if let Err(error) = outcome {
                        // A session that ends twice proves nothing.
                        let is_denied = failing.denies_execution(form) && !(is_repeated && form == Form::OfSession)
                            || matches!(failing, Failing::Page(401) | Failing::Error(401, ..));
                        let expected = if is_denied { Executed::No } else { Executed::Unknown };
                        assert_eq!(error.executed(), expected, "{case}: {error}");
                        assert!(!error.to_string().contains("SECRET"), "{error}");
                    }
                    cases += 1;
                }
            }
        }
    }
    assert!(cases > 4000, "{cases}");
}

/// C52, C53: a server that has made a payment, and then answers with an error, gets the call once.
#[test]
fn a_payment_is_made_once() {
    for (server, failing, failure) in [
        (Server::Modern, Failing::Error(400, -32_603, &[]), "no"),
        (Server::Modern, Failing::Error(400, -32_000, &[]), "no"),
        (Server::Modern, Failing::Error(404, -32_002, &[]), "no"),
        (Server::Modern, Failing::Page(400), "rejects the request"),
        (Server::WithSessions, Failing::Error(404, -32_002, &[]), "no"),
        (Server::WithoutSessions, Failing::Page(404), "has no MCP endpoint"),
    ] {
        let (outcome, calls) = pay_after(server, failing, usize::MAX, false, false);
        let error = outcome.expect_err("a failure");
        let effects = calls.iter().filter(|call| call.is_executed).count();
        assert_eq!((effects, error.executed()), (1, Executed::Unknown), "{server:?} {failing:?}");
        let text = error.to_string();
        assert!(text.contains(failure) && text.contains("It is not known whether the call was executed."), "{text}");
    }
}

/// C52: a session that ends again after it was replaced ends the call.
#[test]
fn a_session_is_replaced_once() {
    let (outcome, calls) = pay_after(Server::WithSessions, Failing::Page(404), usize::MAX, false, false);
    let error = outcome.expect_err("a failure");
    assert_eq!(error.failure(), &Failure::Malformed("contradicts the earlier answers of the server"));
    assert_eq!((calls.len(), error.executed()), (2, Executed::Unknown));
}

/// C52: after an answer that contradicts the knowledge about a server, the client negotiates for the next call. A known server gets one request.
#[test]
fn a_contradiction_is_settled_before_the_next_call() {
    for (before, after, requests) in [
        (Server::Modern, Server::WithSessions, 4),
        (Server::WithoutSessions, Server::WithSessions, 4),
        (Server::Modern, Server::WithoutSessions, 1),
        (Server::Modern, Server::Modern, 1),
    ] {
        let shop = Shop::new(before, |_, _| None);
        let client = client_of(shop.upstream(), false);
        assert_eq!(pay(&client).expect("a result"), "paid");
        shop.replace(after);
        drop(shop.take());
        let is_contradicted = requests > 1;
        if is_contradicted {
            let error = pay(&client).expect_err("a failure");
            assert_eq!(error.executed(), Executed::Unknown);
            assert_eq!(shop.take().0.len(), 1);
        }
        assert_eq!(pay(&client).expect("a result"), "paid", "{before:?} {after:?}");
        let (calls, found) = shop.take();
        assert_eq!((calls.len(), found), (1, requests), "{before:?} {after:?}");
    }
}

/// C52, C53: the server may have executed a call in an earlier attempt than the last one.
#[test]
fn the_error_of_a_call_is_about_all_its_attempts() {
    let (outage, rejected) = (Answer::new(502, "", ""), Answer::new(401, "", ""));
    for (answers, expected) in
        [(vec![outage.clone(), rejected.clone()], Executed::Unknown), (vec![rejected], Executed::No)]
    {
        let (peer, host) = (Peer::new(answers), TestHost::new());
        let connection = client(at(&peer).revision(Revision::V2026_07_28)).connect(&context(&host));
        let call = connection.call("parcels_pay", json!({})).expect("a call").idempotent();
        let error = testing::run(host.run(async move { call.await })).expect("the call ends").expect_err("a failure");
        assert_eq!((error.failure(), error.executed()), (&Failure::Unauthorized, expected));
    }
}

/// A list is requested again after a rate limit or an overload, unless the server states a longer time than the client waits.
#[test]
fn a_list_is_repeated_if_the_server_states_no_long_time() {
    for status in [429, 503] {
        for (after, requests) in [("", 2), ("1", 2), ("7", 1)] {
            let busy = Answer::new(status, "", "").header("retry-after", after);
            let peer = Peer::new([busy, result(json!({ "tools": [], "resultType": "complete" }))]);
            let host = TestHost::new();
            let connection = client(at(&peer).revision(Revision::V2026_07_28)).connect(&context(&host));
            let list = testing::run(host.run(connection.list_tools())).expect("the list ends");
            assert_eq!(peer.methods().len(), requests, "{status} {after:?}");
            assert_eq!(list.missing.is_empty(), requests == 2, "{status} {after:?}");
        }
    }
}

/// C52: random scripts of honest and lying servers.
#[test]
fn no_random_server_gets_a_call_twice_without_a_proof() {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33).to_le_bytes()[0]
    };
    for _ in 0..600 {
        let input: Vec<_> = (0..64).map(|_| random()).collect();
        run(&input);
    }
}

/// C52: a handler that catches the failure of a call, and then asks its caller, does not send the call again in the next round.
#[test]
fn a_failed_call_is_not_sent_again_in_a_later_round() {
    for (failure, calls, texts) in [
        // The call may have been executed.
        (error(500, -32_603, "The payment was made, but the receipt failed."), 1, ["failed (status 500)", "Unknown"]),
        // The call was not executed.
        (error(404, -32_601, "no"), 2, ["no", "No"]),
    ] {
        let peer = Peer::new([failure.clone(), failure]);
        let client = client(at(&peer).revision(Revision::V2026_07_28));
        let endpoint = testing::endpoint(move |_| {
            let client = client.clone();
            let pay = move |cx: Context| {
                let client = client.clone();
                async move {
                    let call = client.connect(&cx).call("parcels_pay", json!({}))?;
                    let error = call.await.expect_err("a failure");
                    cx.confirm("sure", "Continue without the receipt?").await?;
                    Ok::<_, HandlerError>(format!("{error} {:?}", error.executed()))
                }
            };
            McpServer::builder("desk", "1.0.0").tool(Tool::new("pay", "Pays.", pay)).build()
        });
        let answer = testing::run(Client::new(&endpoint).answer("sure", json!({})).call("pay", json!({})));
        assert!(texts.iter().all(|text| answer.text().contains(text)), "{}", answer.text());
        assert_eq!(peer.methods(), vec!["tools/call"; calls]);
    }
}

/// C52, C111: the list that a rejected call needs belongs to the first round of the call, so the next round of the caller continues with the
/// state of the server. This does not depend on the lists that the isolate of a round knows.
#[test]
fn a_call_with_new_headers_is_sent_once_in_all_rounds() {
    let tool = json!({ "name": "track", "inputSchema": { "type": "object", "properties": { "number": { "type": "integer", "x-mcp-header": "Number" } } } });
    let list = |ttl: u32| result(json!({ "tools": [tool], "ttlMs": ttl, "resultType": "complete" }));
    let rejected = || error(400, -32_020, "Mcp-Param-Number is missing.");
    let question = || asks(json!({ "q": form("Sure?", json!({})) }), json!("s1"));
    for (is_cached, is_new_isolate, answers, methods) in [
        (true, false, vec![rejected(), list(60_000), question(), modern("done")], "call list call call"),
        (
            false,
            false,
            vec![rejected(), list(0), question(), rejected(), list(0), modern("done")],
            "call list call call list call",
        ),
        (
            true,
            true,
            vec![rejected(), list(60_000), question(), rejected(), list(60_000), modern("done")],
            "call list call call list call",
        ),
    ] {
        let peer = Peer::new(answers);
        let new = {
            let peer = peer.clone();
            move || client(at(&peer).revision(Revision::V2026_07_28))
        };
        let shared = new();
        let endpoint = testing::endpoint(move |_| {
            let client = if is_new_isolate { new() } else { shared.clone() };
            let send = move |cx: Context| {
                let client = client.clone();
                async move {
                    let call = client.connect(&cx).call("parcels_track", json!({ "number": 7 }))?;
                    Ok::<_, HandlerError>(call.ask_caller(&cx).await?.text())
                }
            };
            McpServer::builder("desk", "1.0.0").tool(Tool::new("send", "Sends.", send)).build()
        });
        let answer = testing::run(Client::new(&endpoint).answer("parcels.1.q", json!({})).call("send", json!({})));
        assert_eq!(answer.text(), "done", "{is_cached} {is_new_isolate}");
        let sent: Vec<_> = peer.methods().iter().map(|method| method.trim_start_matches("tools/").to_owned()).collect();
        assert_eq!(sent.join(" "), methods, "{is_cached} {is_new_isolate}");
        let body = peer.requests().last().expect("a request").body().clone();
        assert!(body.contains(r#""requestState":"s1""#), "{body}");
    }
}

/// C52, C53: a call that is cancelled before its answer has arrived is not sent again in a later round, and the caller learns that its
/// effect is not known.
#[test]
fn a_cancelled_call_is_not_sent_again_in_a_later_round() {
    let silent = || Answer::new(200, "application/json", "").end(End::SilentBeforeHead);
    let unknown = "The call did not finish within 5 s and was cancelled. It is not known whether another server executed its last request. \
                   Check its effect before you call again.";
    for (name, expected) in
        [("pay", unknown), ("outer", "The server `parcels` did not answer before the call was cancelled.")]
    {
        let peer = Peer::new([silent(), silent()]);
        let client = client(at(&peer).revision(Revision::V2026_07_28).timeout(Duration::from_mins(1)));
        let endpoint = testing::endpoint(move |_| {
            let client = client.clone();
            let pay = move |cx: Context| {
                let client = client.clone();
                async move { Ok::<_, HandlerError>(client.connect(&cx).call("parcels_pay", json!({}))?.await?.text()) }
            };
            let outer = async |cx: Context| {
                let paid = cx.call_tool("pay", json!({})).await?.text();
                cx.confirm("sure", "Continue?").await?;
                Ok::<_, HandlerError>(paid)
            };
            McpServer::builder("desk", "1.0.0")
                .tool(Tool::new("pay", "Pays.", pay).deadline(Duration::from_secs(5)))
                .tool(Tool::new("outer", "Pays, and asks.", outer))
                .build()
        });
        let answer = testing::run(Client::new(&endpoint).answer("sure", json!({})).call(name, json!({})));
        assert!(answer.text().starts_with(expected), "{}", answer.text());
        assert_eq!(peer.methods(), ["tools/call"], "{name}");
    }
}
