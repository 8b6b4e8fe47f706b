//! The tokens of a person: their use, their refresh under a lease, and their end.

use std::pin::pin;
use std::time::Duration;

use edge_mcp::auth::Principal;
use edge_mcp::client::{Failure, MemoryTokens, SignIn, SqliteTokens, token_migration};
use edge_mcp::host::Host;
use edge_mcp::testing::{TestDatabase, TestHost};
use futures::future::{join, join_all, select};
use serde_json::{Value, json};

use super::authorization_server::{REGISTER, REVOKE, Reply, SERVER_METADATA, TOKEN, TRACKER, access, refresh};
use super::browser::{Browser, run};
use super::program::{KEY, PAGE, Program, query};
use super::tracker::unauthorized;

/// The ages of a token that lives for an hour: it is refreshed but still valid, and it has ended.
const DUE: Duration = Duration::from_secs(3541);
const ENDED: Duration = Duration::from_secs(3601);

/// Returns a program in which ada has signed in, for each store.
fn programs() -> [Program; 2] {
    let database = TestDatabase::empty();
    database.migrate(token_migration()).expect("a table");
    let programs = [
        Program::at(PAGE, MemoryTokens::new(), |sign_in| sign_in),
        Program::at(PAGE, SqliteTokens::new(database.database()), |sign_in| sign_in),
    ];
    for program in &programs {
        program.sign_in_as("ada");
    }
    programs
}

fn program() -> Program {
    let program = Program::new();
    program.sign_in_as("ada");
    program
}

/// Returns another isolate of the program.
fn isolate(program: &Program) -> Program {
    program.again(KEY, |sign_in| sign_in)
}

/// Prepares the answer to the next token request: the tokens with a number.
fn reply_tokens(program: &Program, number: usize, pause: Duration) {
    program.tracker.accepted.add(&access(number));
    let tokens = json!({ "access_token": access(number), "refresh_token": refresh(number), "token_type": "Bearer" });
    program.authorization.reply(TOKEN, Reply::new(200, &tokens).after(pause));
}

/// C80: a token is refreshed within 60 s of its end, with the resource and without scopes. It is stored before it is used.
#[test]
fn a_token_is_refreshed_before_it_expires() {
    for program in programs() {
        program.host.advance(Duration::from_secs(3539));
        assert_eq!(program.call("ada").expect("a result"), "in Lyon");
        assert_eq!(program.tracker.tokens().last(), Some(&access(1)));
        program.host.advance(Duration::from_secs(1));
        program.events.borrow_mut().clear();
        assert_eq!(program.call("ada").expect("a result"), "in Lyon");
        let call = format!("call {}", access(2));
        assert_eq!(*program.events.borrow(), ["get", "replace", &format!("fetch {TOKEN}"), "replace", &call]);
        let form = program.sent(TOKEN).pop().expect("a request");
        let client = "&client_id=https%3A%2F%2Fdesk.example%2Fsign-in%2Fclient.json";
        let resource = "grant_type=refresh_token&resource=https%3A%2F%2Ftracker.example%2Fmcp";
        assert_eq!(form, format!("{resource}&refresh_token={}{client}", refresh(1)));
        program.call("ada").expect("a result");
        assert_eq!(program.sent(TOKEN).len(), 2);
    }
}

/// C80, the hostile case 51: the next refresh has the refresh token of the last answer. Without one, and with the same one, the old one stays.
#[test]
fn a_refresh_token_is_kept() {
    for (returned, expected) in
        [(json!(null), refresh(1)), (json!(refresh(1)), refresh(1)), (json!("r"), "r".to_owned())]
    {
        let program = program();
        program.authorization.issue(&json!({ "refresh_token": returned }));
        for _ in 0..2 {
            program.host.advance(ENDED);
            program.call("ada").expect("a result");
        }
        assert_eq!(program.field(TOKEN, "refresh_token"), Some(expected));
    }
}

/// C80: a store that cannot be read ends the call. If it cannot be written, a token that is still valid is used, and no other one: a token that
/// is not stored is not used.
#[test]
fn a_store_that_fails_leaves_the_valid_token() {
    // The operations are: a read, the lease, and the new tokens.
    for age in [DUE, ENDED] {
        for operations in 0..3 {
            let program = program();
            program.host.advance(age);
            let calls = program.tracker.requests().len();
            program.store.fail_after(operations);
            let called = program.call("ada").map_err(|error| error.to_string());
            if age == DUE && operations > 0 {
                assert_eq!(called.as_deref(), Ok("in Lyon"), "{operations}");
                assert_eq!(program.tracker.tokens()[calls..], [access(1)]);
                assert!(program.host.log_text().contains("a token that is still valid was not refreshed"));
            } else {
                let expected = "The server `tracker` was not called, because this program cannot use its token store. Try again later.";
                assert_eq!(called.expect_err("a failure"), expected);
                assert_eq!(program.tracker.requests().len(), calls);
            }
            assert_eq!(program.sent(TOKEN).len(), if operations == 2 { 2 } else { 1 });
        }
    }
}

/// C80, C81: refreshed tokens that could not be stored are stored again while the lease lasts. The old refresh token is not sent again.
#[test]
fn refreshed_tokens_are_stored_again() {
    for is_written in [false, true] {
        for program in programs() {
            program.host.advance(ENDED);
            // The first write of the tokens, after a read and the lease. It may have succeeded although its answer is an error.
            program.store.fail_once_after(2, is_written);
            assert_eq!(program.call("ada").expect("a result"), "in Lyon");
            assert_eq!(program.tracker.tokens().last(), Some(&access(2)));
            assert_eq!((program.sent(TOKEN).len(), program.sent(REVOKE).len()), (2, 0));
            program.host.advance(ENDED);
            program.call("ada").expect("a result");
            assert_eq!(program.field(TOKEN, "refresh_token"), Some(refresh(2)));
        }
    }
}

/// C81: ten isolates that find an ended token send one request for another. All use its answer.
#[test]
fn one_request_refreshes_for_all() {
    for program in programs() {
        program.host.advance(ENDED);
        reply_tokens(&program, 7, Duration::from_secs(4));
        let calls: Vec<_> = (0..10).map(|_| isolate(&program).calling("ada")).collect();
        let texts = run(&program.host, join_all(calls));
        assert!(texts.into_iter().all(|text| text.expect("a result") == "in Lyon"));
        assert_eq!(program.sent(TOKEN).len(), 2);
        let tokens = program.tracker.tokens();
        assert_eq!(tokens[tokens.len() - 10..], vec![access(7); 10]);
    }
}

/// C81: while another isolate refreshes a token that is still valid, the others use it.
#[test]
fn the_old_token_is_used_while_it_lasts() {
    for program in programs() {
        program.host.advance(DUE);
        reply_tokens(&program, 7, Duration::from_secs(4));
        let calls: Vec<_> = (0..5).map(|_| isolate(&program).calling("ada")).collect();
        let texts = run(&program.host, join_all(calls));
        assert!(texts.into_iter().all(|text| text.is_ok()));
        let mut tokens = program.tracker.tokens();
        let last = tokens.split_off(tokens.len() - 5);
        assert_eq!(last, [access(1), access(1), access(1), access(1), access(7)]);
        assert_eq!(program.sent(TOKEN).len(), 2);
    }
}

/// C81: an isolate that ends during a refresh leaves a lease. Another request waits for its end, and then refreshes the token itself.
#[test]
fn a_lease_ends() {
    for program in programs() {
        program.host.advance(ENDED);
        // This isolate does not run its tasks.
        let host = program.authorization.serve(TestHost::new().clock(program.host.now_ms())).spawner(drop);
        let ending = Program { host, ..isolate(&program) };
        let error = ending.call("ada").expect_err("a failure");
        assert!(error.to_string().contains("cannot use its token store"), "{error}");

        assert_eq!(program.call("ada").expect("a result"), "in Lyon");
        assert_eq!(program.host.waits(), vec![Duration::from_millis(250); 40]);
        assert_eq!(program.sent(TOKEN).len(), 2);
    }
}

/// C81: a request does not wait without end for others, and the error says for what it has waited.
#[test]
fn the_wait_for_leases_ends() {
    let program = program();
    program.host.advance(ENDED);
    let host = program.authorization.serve(TestHost::new().clock(program.host.now_ms())).spawner(drop);
    let ending = Program { host, ..isolate(&program) };
    for _ in 0..2 {
        ending.call("ada").expect_err("a failure");
        // Its clock is ahead, so it takes the lease again.
        ending.host.advance(Duration::from_secs(11));
    }
    let called = program.call("ada");
    assert_eq!(program.host.waits().len(), 60);
    let busy = "The server `tracker` was not called, because another request of this program still refreshes its token. Try again later.";
    assert_eq!(called.expect_err("a failure").to_string(), busy);
}

/// C81: the store can be so slow that a lease ends before its request is sent. Then another isolate may use the refresh token, so the request
/// is not sent.
#[test]
fn a_lease_that_has_ended_is_not_used() {
    // The operations are: a read, the lease, and the read of the registered client.
    for slow in 1..3 {
        let program = Program::with(SignIn::dynamic_registration);
        let members = json!({ "client_id_metadata_document_supported": false, "registration_endpoint": REGISTER });
        program.authorization.change(SERVER_METADATA, &members);
        program.sign_in_as("ada");
        program.host.advance(ENDED);
        program.store.slow_after(slow, &program.host, Duration::from_secs(12));
        let (call, other, host) = (program.calling("ada"), isolate(&program).calling("ada"), program.host.clone());
        let later = async {
            host.sleep(Duration::from_secs(11)).await;
            other.await
        };
        let (one, two) = run(&program.host, join(call, later));
        assert_eq!(
            (one.expect("a result").as_str(), two.expect("a result").as_str()),
            ("in Lyon", "in Lyon"),
            "{slow}"
        );
        assert_eq!(program.sent(TOKEN).len(), 2, "{slow}");
        assert_eq!(program.tracker.tokens().last(), Some(&access(3)), "{slow}");
    }
}

/// C81: a connection that has sent all its requests leaves no lease, for which the others would wait.
#[test]
fn a_connection_without_requests_left_takes_no_lease() {
    let program = program();
    let connection = program.connect("ada");
    let tracker = connection.server("tracker").expect("a server");
    for _ in 0..40 {
        run(&program.host, tracker.call("track", json!({})).into_future()).expect("a result");
    }
    program.host.advance(ENDED);
    let error = run(&program.host, tracker.call("track", json!({})).into_future()).expect_err("a failure");
    assert_eq!((error.failure(), program.sent(TOKEN).len()), (&Failure::BudgetExhausted, 1));
    program.call("ada").expect("a result");
    assert!(program.host.waits().is_empty());
}

/// C81: a caller that leaves during a refresh does not lose the new refresh token.
#[test]
fn a_refresh_continues_without_its_caller() {
    for program in programs() {
        program.host.advance(ENDED);
        reply_tokens(&program, 7, Duration::from_secs(2));
        let call = program.calling("ada");
        let host = program.host.clone();
        run(&program.host, async move {
            drop(select(pin!(call), host.sleep(Duration::from_secs(1))).await);
        });
        assert_eq!(program.sent(TOKEN).len(), 2);
        assert_eq!(program.call("ada").expect("a result"), "in Lyon");
        assert_eq!((program.sent(TOKEN).len(), program.tracker.tokens().last()), (2, Some(&access(7))));
    }
}

/// C82, the hostile case 51: a refresh token that another isolate has replaced is rejected. The tokens of the other isolate are used.
#[test]
fn a_rejected_refresh_uses_the_tokens_of_another_isolate() {
    for program in programs() {
        program.host.advance(ENDED);
        let (mut browser, other) = (Browser::default(), isolate(&program));
        let state = browser.begin(&other, "?server=tracker", "ada").parameter("state").expect("a state");
        program.authorization.reply(TOKEN, Reply::error("invalid_grant").after(Duration::from_secs(2)));
        let (call, host) = (program.calling("ada"), program.host.clone());
        let finished = async {
            host.sleep(Duration::from_secs(1)).await;
            let cx = browser.context(&host, "/callback", &format!("?code=c&state={state}"), &[]);
            other.sign_in.finish(&cx, &Principal::new("ada")).await.status().as_u16()
        };
        let (text, status) = run(&program.host, join(call, finished));
        assert_eq!((text.expect("a result").as_str(), status), ("in Lyon", 200));
        assert_eq!(program.tracker.tokens().last(), Some(&access(2)));
        program.call("ada").expect("the tokens are still there");
    }
}

/// C82: an access that the authorization server has ended is remembered for a day. The person signs in again, and nothing else is requested.
#[test]
fn an_ended_access_is_remembered() {
    for program in programs() {
        program.host.advance(DUE);
        program.authorization.reply(TOKEN, Reply::error("invalid_grant"));
        for _ in 0..3 {
            let error = program.call("ada").expect_err("a failure");
            assert!(matches!(error.failure(), Failure::SignInRequired { .. }), "{error}");
        }
        assert_eq!(program.sent(TOKEN).len(), 2);
        assert_eq!(program.store.keeps().last(), Some(&Duration::from_hours(24)));
        assert!(program.host.log_text().contains("ended the access"), "{}", program.host.log_text());
        program.sign_in_as("ada");
        assert_eq!(program.call("ada").expect("a result"), "in Lyon");
        assert_eq!(program.store.keeps().last(), Some(&Duration::from_hours(24 * 400)));
    }
}

/// C82, the hostile case 51: an authorization server that is not available does not end the access. The old token is used while it lasts.
#[test]
fn an_unavailable_authorization_server_keeps_the_tokens() {
    let unavailable = [
        ("503", Reply::text(503, "<p>no</p>")),
        ("429", Reply::text(429, "")),
        ("hang", Reply::silence()),
        ("code", Reply::error("server_error")),
        ("status 503 with a code", Reply::new(503, &json!({ "error": "temporarily_unavailable" }))),
        ("endless", Reply::text(200, &" ".repeat(70_000))),
    ];
    for (name, reply) in unavailable {
        for age in [DUE, ENDED] {
            let program = program();
            program.host.advance(age);
            program.authorization.reply(TOKEN, reply.clone());
            let called = program.call("ada");
            match (age, called) {
                (DUE, called) => assert_eq!(called.expect(name), "in Lyon", "{name}"),
                (_, called) => {
                    let error = called.expect_err(name);
                    assert!(matches!(error.failure(), Failure::Local(_)), "{name}: {error}");
                    assert!(error.to_string().contains("authorization server"), "{name}: {error}");
                }
            }
            // The lease ends with the request, so the next call does not wait.
            let waits = program.host.waits().len();
            assert_eq!(program.call("ada").expect(name), "in Lyon");
            assert_eq!(program.tracker.tokens().last(), Some(&access(2)), "{name}");
            assert_eq!((program.sent(TOKEN).len(), program.host.waits().len()), (3, waits), "{name}");
        }
    }
}

/// C82: an authorization server that rejects a client of the operator rejects a new sign-in too. The tokens stay.
#[test]
fn a_rejected_client_of_the_operator_is_an_error() {
    for code in ["invalid_client", "unauthorized_client"] {
        let program = program();
        program.host.advance(ENDED);
        program.authorization.reply(TOKEN, Reply::error(code));
        let error = program.call("ada").expect_err("a failure");
        assert!(error.to_string().ends_with(&format!("rejects the request for an access token ({code}).")), "{error}");
        assert_eq!(program.call("ada").expect("a result"), "in Lyon");
    }
}

/// Without a refresh token, a token is used to its end. Without a lifetime too, it is used until the server rejects it.
#[test]
fn a_token_without_a_refresh_token_is_used_to_its_end() {
    let program = Program::new();
    program.authorization.issue(&json!({ "refresh_token": null }));
    program.sign_in_as("ada");
    program.host.advance(DUE);
    program.call("ada").expect("a result");
    program.host.advance(Duration::from_mins(1));
    let error = program.call("ada").expect_err("a failure");
    assert!(matches!(error.failure(), Failure::SignInRequired { .. }), "{error}");
    assert_eq!((program.tracker.tokens().last().map(String::as_str), program.sent(TOKEN).len()), (Some(""), 1));

    program.authorization.issue(&json!({ "expires_in": null }));
    program.sign_in_as("ada");
    for hours in [1, 24, 24 * 399, 24 * 399] {
        program.host.advance(Duration::from_hours(hours));
        assert_eq!(program.call("ada").expect("a result"), "in Lyon");
    }
    program.tracker.accepted.clear();
    let error = program.call("ada").expect_err("a failure");
    assert!(matches!(error.failure(), Failure::SignInRequired { .. }), "{error}");
    assert_eq!((program.tracker.tokens().last(), program.sent(TOKEN).len()), (Some(&access(2)), 2));
}

/// C83, the hostile case 47: a rejected token is refreshed once, also if it is not due, and the call is repeated once.
#[test]
fn a_rejected_token_is_refreshed_once() {
    let program = program();
    program.tracker.accepted.clear();
    assert_eq!(program.call("ada").expect("a result"), "in Lyon");
    let tokens = program.tracker.tokens();
    assert_eq!(tokens[tokens.len() - 2..], [access(1), access(2)]);

    for _ in 0..3 {
        program.tracker.answer(unauthorized("Bearer"));
    }
    let calls = tokens.len();
    let error = program.call("ada").expect_err("a failure");
    assert!(matches!(error.failure(), Failure::SignInRequired { .. }), "{error}");
    assert_eq!((program.tracker.tokens().len(), program.sent(TOKEN).len()), (calls + 2, 3));
}

/// C83: if the store has another token by now, that is used, and no token is requested.
#[test]
fn a_rejected_token_may_be_replaced_already() {
    let program = program();
    let connection = program.connect("ada");
    let call = || {
        let call = connection.server("tracker").expect("a server").call("track", json!({}));
        run(&program.host, async move { call.await.map(|result| result.text()) })
    };
    assert_eq!(call().expect("a result"), "in Lyon");
    program.sign_in_as("ada");
    program.tracker.accepted.clear();
    program.tracker.accepted.add(&access(2));
    assert_eq!(call().expect("a result"), "in Lyon");
    assert_eq!(program.sent(TOKEN).len(), 2);
}

/// C83: parallel calls of a connection, all with a rejected token, use the same new one.
#[test]
fn parallel_calls_use_one_new_token() {
    let program = program();
    let connection = program.connect("ada");
    let tracker = connection.server("tracker").expect("a server");
    run(&program.host, tracker.call("track", json!({})).into_future()).expect("a result");
    program.tracker.accepted.clear();
    program.tracker.pause.set(Duration::from_secs(1));
    let calls: Vec<_> = (0..4).map(|_| tracker.call("track", json!({})).into_future()).collect();
    for called in run(&program.host, join_all(calls)) {
        assert_eq!(called.expect("a result").text(), "in Lyon");
    }
    assert_eq!(program.sent(TOKEN).len(), 2);
}

/// C84: forgotten tokens are revoked, and gone also if the authorization server cannot revoke them.
#[test]
fn tokens_are_forgotten() {
    for (reply, is_logged) in [(Reply::text(200, ""), false), (Reply::text(503, ""), true), (Reply::silence(), true)] {
        let program = program();
        program.authorization.reply(REVOKE, reply);
        let cx = Browser::default().context(&program.host, "", "", &[]);
        let forget =
            |name: &str| run(&program.host, program.sign_in.forget(&program.client, name, &cx, &Principal::new("ada")));
        assert!(forget("unknown").is_err());
        program.call("ada").expect("the tokens are still there");
        forget("tracker").expect("it is forgotten");
        let expected = ("token", refresh(1));
        assert_eq!(program.field(REVOKE, expected.0), Some(expected.1));
        assert_eq!(program.field(REVOKE, "token_type_hint").as_deref(), Some("refresh_token"));
        assert_eq!(program.host.log_text().contains("a token was not revoked"), is_logged);
        assert!(!program.host.log_text().contains("SECRET"));
        query(&program.call("ada").expect_err("a failure"));
        forget("tracker").expect("there is nothing left");
        assert_eq!(program.sent(REVOKE).len(), 1);

        program.sign_in_as("ada");
        program.store.fail_after(1);
        let error = forget("tracker").expect_err("a failure");
        assert_eq!(error.message(), "The access was not removed. Try again later.");
        program.store.recover();
        program.call("ada").expect("the tokens are still there");
    }
}

/// C84: the tokens of a refresh that is in flight while they are forgotten are revoked, and not used.
#[test]
fn a_refresh_does_not_bring_forgotten_tokens_back() {
    for program in programs() {
        program.host.advance(ENDED);
        reply_tokens(&program, 7, Duration::from_secs(2));
        let (call, host, person) = (program.calling("ada"), program.host.clone(), Principal::new("ada"));
        let cx = Browser::default().context(&host, "", "", &[]);
        let forgotten = async {
            host.sleep(Duration::from_secs(1)).await;
            program.sign_in.forget(&program.client, "tracker", &cx, &person).await
        };
        let (called, forgotten) = run(&program.host, join(call, forgotten));
        forgotten.expect("it is forgotten");
        query(&called.expect_err("a failure"));
        query(&program.call("ada").expect_err("a failure"));
        assert!(!program.tracker.tokens().contains(&access(7)));
        assert_eq!(revoked(&program), [refresh(1), refresh(7)]);
    }
}

/// C84: if a refresh stores its tokens just before they are forgotten, the new ones are revoked.
#[test]
fn forgetting_revokes_the_tokens_that_it_removes() {
    for program in programs() {
        program.host.advance(ENDED);
        let cx = Browser::default().context(&program.host, "", "", &[]);
        let (person, host) = (Principal::new("ada"), program.host.clone());
        // While the first read of the tokens takes its time, another isolate refreshes them.
        program.store.slow_after(0, &host, Duration::from_secs(2));
        let other = isolate(&program).calling("ada");
        let later = async {
            host.sleep(Duration::from_secs(1)).await;
            other.await
        };
        let forget = program.sign_in.forget(&program.client, "tracker", &cx, &person);
        let (forgotten, called) = run(&program.host, join(forget, later));
        forgotten.expect("it is forgotten");
        assert_eq!(called.expect("a result"), "in Lyon");
        assert_eq!(revoked(&program), [refresh(2)]);
        query(&program.call("ada").expect_err("a failure"));
    }
}

/// C84: if the answer of the store is lost, the next attempt to forget the tokens still revokes them.
#[test]
fn a_second_attempt_to_forget_revokes_the_tokens() {
    for program in programs() {
        let cx = Browser::default().context(&program.host, "", "", &[]);
        let person = Principal::new("ada");
        let forget = || run(&program.host, program.sign_in.forget(&program.client, "tracker", &cx, &person));
        program.store.fail_once_after(1, true);
        forget().expect_err("a failure");
        query(&program.call("ada").expect_err("a failure"));
        forget().expect("it is forgotten");
        assert_eq!(revoked(&program), [refresh(1)]);
    }
}

/// C84: a new sign-in revokes the tokens that it replaces, unless the authorization server has issued the same refresh token again.
#[test]
fn a_new_sign_in_revokes_the_old_tokens() {
    for program in programs() {
        program.sign_in_as("ada");
        assert_eq!(revoked(&program), [refresh(1)]);
        program.authorization.issue(&json!({ "refresh_token": refresh(2) }));
        program.sign_in_as("ada");
        assert_eq!(revoked(&program).len(), 1);
        // While a refresh is in flight, its tokens belong to the old sign-in.
        program.host.advance(ENDED);
        let mut browser = Browser::default();
        let state = browser.begin(&program, "?server=tracker", "ada").parameter("state").expect("a state");
        reply_tokens(&program, 7, Duration::from_secs(2));
        let (call, host, person) = (program.calling("ada"), program.host.clone(), Principal::new("ada"));
        let finished = async {
            host.sleep(Duration::from_secs(1)).await;
            program.authorization.issue(&json!({ "refresh_token": "r-8" }));
            let cx = browser.context(&host, "/callback", &format!("?code=c&state={state}"), &[]);
            program.sign_in.finish(&cx, &person).await.status().as_u16()
        };
        let (called, status) = run(&program.host, join(call, finished));
        assert_eq!((called.expect("a result").as_str(), status), ("in Lyon", 200));
        assert_eq!(revoked(&program)[1..], [refresh(2), refresh(7)]);
    }
}

/// C84: without a refresh token, the access token is revoked.
#[test]
fn an_access_token_is_revoked() {
    let program = Program::new();
    program.authorization.issue(&json!({ "refresh_token": null }));
    program.sign_in_as("ada");
    let cx = Browser::default().context(&program.host, "", "", &[]);
    let ada = Principal::new("ada");
    run(&program.host, program.sign_in.forget(&program.client, "tracker", &cx, &ada)).expect("it is forgotten");
    assert_eq!(revoked(&program), [access(1)]);
    assert_eq!(program.field(REVOKE, "token_type_hint").as_deref(), Some("access_token"));
}

/// A sign-in whose tokens cannot be stored leaves no token behind.
#[test]
fn the_tokens_of_a_failed_sign_in_are_revoked() {
    let program = Program::new();
    let mut browser = Browser::default();
    let state = browser.begin(&program, "?server=tracker", "ada").parameter("state").expect("a state");
    // The mark of the sign-in is stored, and nothing after it.
    program.store.fail_after(1);
    let page = browser.finish(&program, &format!("?code=c&state={state}"), "ada");
    assert_eq!((page.status, revoked(&program)), (500, vec![refresh(1)]));
}

/// Returns the tokens that were revoked.
fn revoked(program: &Program) -> Vec<String> {
    let token = |form: String| {
        let found = form_urlencoded::parse(form.as_bytes()).find(|(name, _)| name == "token");
        found.map(|(_, token)| token.into_owned()).expect("a token")
    };
    program.sent(REVOKE).into_iter().map(token).collect()
}

/// C86: two persons never share tokens, nor do two programs with another URL of the server.
#[test]
fn persons_do_not_share_tokens() {
    for program in programs() {
        query(&program.call("bob").expect_err("a failure"));
        program.sign_in_as("bob");
        program.call("bob").expect("a result");
        program.call("ada").expect("a result");
        let tokens = program.tracker.tokens();
        assert_eq!(tokens[tokens.len() - 2..], [access(2), access(1)]);
        for issuer in ["https://other.example", ""] {
            let mut other = Principal::new("ada");
            other.issuer = Some(issuer.to_owned());
            let request = http::Request::post("https://desk.example/mcp");
            let cx = super::browser::context(request, &program.host, Some(other));
            let call = program.client.connect(&cx).server("tracker").expect("a server").call("track", json!({}));
            query(&run(&program.host, call.into_future()).expect_err("a failure"));
            assert_eq!(program.tracker.tokens().last().map(String::as_str), Some(""), "{issuer:?}");
        }
    }
}

/// C78: the lifetime of a token is a number of seconds, also as a string. Without it, an hour is assumed.
#[test]
fn the_lifetime_of_a_token_is_read() {
    for (expires_in, is_refreshed_after) in [
        (json!("7200"), 7140),
        (json!(null), 3540),
        // Of a short lifetime, half is used.
        (json!(100), 50),
        (json!(60), 30),
        (json!(0), 1),
    ] {
        let program = Program::new();
        program.authorization.issue(&json!({ "expires_in": expires_in }));
        program.sign_in_as("ada");
        program.host.advance(Duration::from_secs(is_refreshed_after - 1));
        program.call("ada").expect("a result");
        assert_eq!(program.sent(TOKEN).len(), 1, "{expires_in}");
        program.host.advance(Duration::from_secs(1));
        program.call("ada").expect("a result");
        assert_eq!(program.sent(TOKEN).len(), 2, "{expires_in}");
    }
}

/// C78, the hostile case 49: a token answer without a valid bearer token. The person gets a sentence without anything of the answer, and
/// nothing is stored.
#[test]
fn a_hostile_token_answer_is_refused() {
    let token = |changes: Value| {
        let mut answer = json!({ "access_token": "SECRET-a", "token_type": "Bearer" });
        answer.as_object_mut().expect("an object").extend(changes.as_object().expect("an object").clone());
        Reply::new(200, &answer)
    };
    let rejects =
        |reason: &str| format!("its authorization server rejects the request for an access token ({reason}).");
    let issued = |problem: &str| format!("its authorization server issued a token {problem}");
    let no_object = || "its authorization server sent an answer that is not a JSON object.".to_owned();
    for (reply, expected) in [
        (token(json!({ "error": "invalid_grant" })), rejects("invalid_grant")),
        (token(json!({ "error": "SECRET<b>" })), rejects("an unknown error")),
        (token(json!({ "error": 7 })), rejects("an unknown error")),
        (token(json!({ "token_type": "mac" })), issued("that is not a bearer token.")),
        (token(json!({ "token_type": null })), issued("that is not a bearer token.")),
        (
            token(json!({ "token_type": "DPoP" })),
            issued("that is not a bearer token, but requires DPoP, which is not supported."),
        ),
        (token(json!({ "expires_in": -1 })), issued("whose lifetime is not a number of seconds.")),
        (token(json!({ "expires_in": 1.5 })), issued("whose lifetime is not a number of seconds.")),
        (token(json!({ "expires_in": "soon" })), issued("whose lifetime is not a number of seconds.")),
        (Reply::text(200, r#"{"access_token":"a","token_type":"bearer","expires_in":1e400}"#), String::new()),
        (token(json!({ "access_token": "a\nb" })), issued("that no header can contain.")),
        (token(json!({ "access_token": "" })), issued("that no header can contain.")),
        (token(json!({ "access_token": ["a"] })), issued("that no header can contain.")),
        (token(json!({ "access_token": "a".repeat(9000) })), issued("that no header can contain.")),
        (
            token(json!({ "access_token": "a".repeat(1 << 20) })),
            "its authorization server cannot be reached. Try again later.".to_owned(),
        ),
        (Reply::text(200, "<p>SECRET</p>"), no_object()),
        (Reply::text(200, "access_token=SECRET&token_type=bearer"), no_object()),
        (Reply::text(200, r#"{"access_token":"a","access_token":"b","token_type":"bearer"}"#), no_object()),
        (Reply::text(200, "[]"), no_object()),
        (Reply::text(302, ""), rejects("status 302")),
        (Reply::new(201, &json!({ "access_token": "a", "token_type": "bearer" })), rejects("status 201")),
    ] {
        let (program, mut browser) = (Program::new(), Browser::default());
        let state = browser.begin(&program, "?server=tracker", "ada").parameter("state").expect("a state");
        program.authorization.reply(TOKEN, reply);
        let page = browser.finish(&program, &format!("?code=c&state={state}"), "ada");
        let sentence = format!("You cannot sign in to the server tracker, because {expected}");
        assert!(page.refusal().starts_with(&sentence), "{page:?} {sentence}");
        assert!(!page.text.contains("SECRET") && !program.host.log_text().contains("SECRET"));
        // The mark is the only row.
        assert_eq!(program.store.rows().len(), 1);
        assert_eq!(program.field(TOKEN, "resource").as_deref(), Some(TRACKER));
    }
}
