//! Calls that ask their caller to sign in, and continue.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::auth::{PresentedToken, Principal, TokenRefusal};
use edge_mcp::client::McpClient;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Answer, Client};
use edge_mcp::{Context, Endpoint, HandlerError, McpServer, Tool};
use serde_json::{Value, json};

use super::authorization_server::{TOKEN, access};
use super::program::{PAGE, Program};
use super::tracker::insufficient;

/// The token of the caller of this program. It must never reach another server.
pub const CALLER: &str = "SECRET-caller";

const FIRST: &str = "tracker.sign-in.1";

/// Returns the person to whom the token belongs. The pages of the program know the same person.
pub async fn ada(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
    if presented.token() == CALLER { Ok(Principal::new("ada")) } else { Err(TokenRefusal::Expired) }
}

/// Returns an endpoint whose tool `find` runs `find`. Its caller is ada.
fn endpoint<F, Fut>(program: &Program, find: F) -> Endpoint
where
    F: Fn(McpClient, Context) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<String, HandlerError>> + 'static,
{
    let client = program.client.clone();
    let endpoint = testing::endpoint(move |_| {
        let (client, find) = (client.clone(), find.clone());
        let find = move |cx: Context| find(client.clone(), cx);
        McpServer::builder("desk", "1.0.0").tool(Tool::new("find", "Finds an issue.", find)).build()
    });
    endpoint.auth(ada)
}

async fn find(client: McpClient, cx: Context) -> Result<String, HandlerError> {
    Ok(client.connect(&cx).server("tracker")?.call("track", json!({})).ask_caller(&cx).await?.text())
}

fn caller<'e>(program: &Program, endpoint: &'e Endpoint) -> Client<'e> {
    Client::new(endpoint).host(&program.host).token(CALLER)
}

/// Sends one round. `replies` are the answers to the questions of the earlier answer.
fn round(caller: &Client<'_>, earlier: Option<&Answer>, reply: &Value) -> Answer {
    round_of(caller, "find", &json!({}), earlier, reply)
}

/// Sends one round of a call of `tool`.
pub fn round_of(caller: &Client<'_>, tool: &str, arguments: &Value, earlier: Option<&Answer>, reply: &Value) -> Answer {
    let mut params = json!({ "name": tool, "arguments": arguments });
    if let Some(earlier) = earlier {
        let asked = earlier.result()["inputRequests"].as_object().expect("questions");
        let replies: serde_json::Map<_, _> = asked.keys().map(|key| (key.clone(), reply.clone())).collect();
        params["inputResponses"] = replies.into();
        params["requestState"] = earlier.result()["requestState"].clone();
    }
    testing::run(caller.request("tools/call", params))
}

/// Returns the questions of a round: the ends of their keys, and their links.
pub fn questions(answer: &Answer) -> Vec<(String, String)> {
    let asked = answer.result()["inputRequests"].as_object().unwrap_or_else(|| panic!("{}", answer.text()));
    let question = |(key, question): (&String, &Value)| {
        let params = &question["params"];
        assert_eq!((&question["method"], &params["mode"]), (&json!("elicitation/create"), &json!("url")));
        let message = "The server `tracker` requires you to sign in. Open the page, sign in, and come back.";
        assert_eq!(params["message"], message);
        let key = key.rsplit('/').next().unwrap_or_default().to_owned();
        (key, params["url"].as_str().expect("a URL").strip_prefix(PAGE).expect("a link").to_owned())
    };
    asked.iter().map(question).collect()
}

pub fn accept() -> Value {
    json!({ "action": "accept" })
}

/// The caller gets the link, and the call continues in the next round, when the person has signed in.
#[test]
fn the_caller_is_asked_to_sign_in() {
    let program = Program::new();
    let endpoint = endpoint(&program, find);
    let caller = caller(&program, &endpoint);
    let first = round(&caller, None, &accept());
    let [(key, link)] = &questions(&first)[..] else { panic!("{}", first.text()) };
    assert_eq!(key, FIRST);
    program.sign_in_at(link, "ada");
    let second = round(&caller, Some(&first), &accept());
    assert_eq!((second.is_error(), second.text()), (false, "in Lyon"));
    // The second request is that of the page.
    assert_eq!(program.tracker.tokens(), ["", "", &access(1)]);
    assert!(program.host.waits().is_empty());
}

/// A person who comes back too early is waited for. The sign-in that ends meanwhile continues the call within the same round.
#[test]
fn the_call_waits_for_the_sign_in() {
    let program = Program::new();
    let endpoint = endpoint(&program, find);
    let caller = caller(&program, &endpoint);
    let first = round(&caller, None, &accept());
    let link = questions(&first)[0].1.clone();
    let (host, other) = (program.host.clone(), program.again(super::program::KEY, |sign_in| sign_in));
    let mut browser = super::browser::Browser::default();
    let state = browser.begin(&program, &link, "ada").parameter("state").expect("a state");
    let cx = browser.context(&host, "/callback", &format!("?code=c&state={state}"), &[]);
    let finished = async move {
        edge_mcp::host::Host::sleep(&host, Duration::from_millis(6500)).await;
        other.sign_in.finish(&cx, &Principal::new("ada")).await.status().as_u16()
    };
    edge_mcp::host::Host::spawn(&program.host, Box::pin(async move { assert_eq!(finished.await, 200) }));
    let second = round(&caller, Some(&first), &accept());
    assert_eq!((second.is_error(), second.text()), (false, "in Lyon"));
    assert_eq!(program.host.waits().iter().sum::<Duration>(), Duration::from_secs(7));
}

/// A person who does not sign in is asked three times, with the same link, and then gets the sentence with a link.
#[test]
fn the_caller_is_asked_three_times() {
    let program = Program::new();
    let endpoint = endpoint(&program, find);
    let caller = caller(&program, &endpoint);
    let first = round(&caller, None, &accept());
    let second = round(&caller, Some(&first), &accept());
    let third = round(&caller, Some(&second), &accept());
    let asked = [&first, &second, &third].map(|answer| questions(answer)[0].clone());
    let link = &asked[0].1;
    assert_eq!(asked, [1, 2, 3].map(|number| (format!("tracker.sign-in.{number}"), link.clone())));
    let last = round(&caller, Some(&third), &accept());
    let sentence = "The server `tracker` requires you to sign in";
    assert!(last.is_error() && last.text().starts_with(sentence), "{}", last.text());
    assert!(last.text().contains(&format!("{PAGE}?ticket=")), "{}", last.text());
    // Each round after a question waits for 20 s, once.
    assert_eq!(program.host.waits().iter().sum::<Duration>(), Duration::from_mins(1));
}

/// A token without a refresh token has ended. It does not count as the new one, so the call waits and asks again.
#[test]
fn an_ended_token_is_not_a_sign_in() {
    let program = Program::new();
    program.authorization.issue(&json!({ "refresh_token": null }));
    program.sign_in_as("ada");
    program.host.advance(Duration::from_secs(3601));
    let endpoint = endpoint(&program, find);
    let caller = caller(&program, &endpoint);
    let first = round(&caller, None, &accept());
    let second = round(&caller, Some(&first), &accept());
    assert_eq!(questions(&second)[0].0, "tracker.sign-in.2");
    program.sign_in_at(&questions(&second)[0].1, "ada");
    assert_eq!(round(&caller, Some(&second), &accept()).text(), "in Lyon");
}

/// A person who does not want to sign in gets one sentence.
#[test]
fn a_declined_sign_in_ends_the_call() {
    let refused = "The server `tracker` was not called, because you did not agree to sign in.";
    for (reply, expected) in [
        (json!({ "action": "decline" }), refused),
        (json!({ "action": "cancel" }), refused),
        (json!({ "action": "maybe" }), "The server `tracker` was not called, because your answer is not valid."),
    ] {
        let program = Program::new();
        let endpoint = endpoint(&program, find);
        let caller = caller(&program, &endpoint);
        let answer = round(&caller, Some(&round(&caller, None, &accept())), &reply);
        assert_eq!((answer.is_error(), answer.text()), (true, expected));
        assert!(program.host.waits().is_empty());
    }
}

/// A caller that cannot be asked gets the sentence with the link: with an older revision, without the capability, or if the handler does not
/// pass its context. The link works.
#[test]
fn a_caller_that_cannot_be_asked_gets_the_link() {
    async fn quietly(client: McpClient, cx: Context) -> Result<String, HandlerError> {
        Ok(client.connect(&cx).server("tracker")?.call("track", json!({})).await?.text())
    }
    let program = Program::new();
    let (asking, quiet) = (endpoint(&program, find), endpoint(&program, quietly));
    let form_only = json!({ "elicitation": { "form": {} } });
    for caller in [
        caller(&program, &asking).revision(Revision::V2025_06_18),
        caller(&program, &asking).revision(Revision::V2024_11_05),
        caller(&program, &asking).capabilities(form_only),
        caller(&program, &asking).capabilities(json!({})),
        caller(&program, &quiet),
    ] {
        let answer = round(&caller, None, &accept());
        assert!(answer.is_error(), "{}", answer.text());
        let (sentence, link) = answer.text().split_once(PAGE).unwrap_or_else(|| panic!("{}", answer.text()));
        assert!(sentence.starts_with("The server `tracker` requires you to sign in"), "{sentence}");
        let link: String = link.chars().take_while(|c| c.is_ascii_alphanumeric() || "?=-_".contains(*c)).collect();
        let begun = super::browser::Browser::default().begin(&program, &link, "ada");
        assert_eq!(begun.status, 302, "{link}");
    }
}

/// C65: an endpoint without authentication does not know its caller. So the call asks no question, and fails with a sentence of its own.
#[test]
fn a_caller_without_authentication_cannot_sign_in() {
    let program = Program::new();
    let endpoint = endpoint(&program, find).without_auth();
    let answer = round(&Client::new(&endpoint).host(&program.host), None, &accept());
    let expected = "The server `tracker` was not called, because a person must sign in to it, and the caller of this program is not authenticated.";
    assert_eq!((answer.is_error(), answer.text()), (true, expected));
    assert_eq!(program.tracker.tokens(), [""]);
}

/// C116: an earlier call of the handler is not sent again in the round after the question.
#[test]
fn an_earlier_call_is_not_sent_twice() {
    let program = Program::new();
    let effects = Rc::new(Cell::new(0));
    let counted = effects.clone();
    let other = crate::peer::Peer::new([crate::calls::modern("one"), crate::calls::modern("two")]);
    let parcels = crate::calls::client(crate::calls::at(&other).revision(Revision::V2026_07_28));
    let endpoint = endpoint(&program, move |client, cx| {
        let (parcels, effects) = (parcels.clone(), counted.clone());
        async move {
            let sent = parcels.connect(&cx).server("parcels")?.call("send", json!({})).await?.text();
            let step = cx.step("effect", &(), async || {
                effects.set(effects.get() + 1);
                Ok(())
            });
            step.await?;
            Ok(format!("{sent}, {}", find(client, cx).await?))
        }
    });
    let caller = caller(&program, &endpoint);
    let first = round(&caller, None, &accept());
    program.sign_in_at(&questions(&first)[0].1, "ada");
    assert_eq!(round(&caller, Some(&first), &accept()).text(), "one, in Lyon");
    assert_eq!((other.requests().len(), effects.get()), (1, 1));
}

/// Two parallel calls of the same server: one sign-in continues both.
#[test]
fn parallel_calls_continue_after_one_sign_in() {
    let program = Program::new();
    let endpoint = endpoint(&program, |client, cx| async move {
        let tracker = client.connect(&cx).server("tracker")?;
        let call = |number: u32| tracker.call("track", json!({ "number": number })).ask_caller(&cx).into_future();
        let (one, two) = futures::try_join!(call(1), call(2))?;
        Ok(format!("{}, {}", one.text(), two.text()))
    });
    let caller = caller(&program, &endpoint);
    let first = round(&caller, None, &accept());
    let asked = questions(&first);
    assert!(!asked.is_empty() && asked.iter().all(|(key, _)| key == FIRST), "{asked:?}");
    program.sign_in_at(&asked[0].1, "ada");
    assert_eq!(round(&caller, Some(&first), &accept()).text(), "in Lyon, in Lyon");
    // No call was executed twice.
    let tokens = program.tracker.tokens();
    assert_eq!(tokens.iter().filter(|token| !token.is_empty()).count(), 2, "{tokens:?}");
    assert_eq!(program.sent(TOKEN).len(), 1);
}

/// C85: a call that needs more scopes asks for a sign-in too, and continues with the new token.
#[test]
fn the_caller_is_asked_for_more_scopes() {
    let program = Program::new();
    program.authorization.issue(&json!({ "scope": "a" }));
    program.sign_in_as("ada");
    let endpoint = endpoint(&program, find);
    let caller = caller(&program, &endpoint);
    program.tracker.answer(insufficient("b"));
    let first = round(&caller, None, &accept());
    // Until the person has signed in, the old token is not tried again.
    program.authorization.issue(&json!({ "scope": "a b" }));
    program.tracker.answer(insufficient("b"));
    let calls = program.tracker.tokens().len();
    let second = round(&caller, Some(&first), &accept());
    assert_eq!(questions(&second)[0].0, "tracker.sign-in.2");
    assert_eq!(program.tracker.tokens().len(), calls + 1);
    let begun = program.sign_in_at(&questions(&second)[0].1, "ada");
    assert_eq!(begun.parameter("scope").as_deref(), Some("a b"));
    assert_eq!(round(&caller, Some(&second), &accept()).text(), "in Lyon");
    assert_eq!(program.tracker.tokens().last(), Some(&access(2)));
}
