//! The page to which an authorization server sends the browser back.

use std::time::Duration;

use edge_mcp::client::{ClientError, Failure};
use serde_json::json;

use super::authorization_server::{ISSUER, RESOURCE_METADATA, Reply, SERVER_METADATA, TOKEN, TRACKER, access};
use super::browser::{Browser, Page, altered};
use super::program::{KEY, Program};

const WRONG_STATE: &str = "This answer does not belong to a sign-in of this browser. Sign in again.";
const WRONG_ISSUER: &str = "This answer comes from another authorization server. Sign in again.";

/// Begins a sign-in. Returns the browser and the state.
fn begun(program: &Program, person: &str) -> (Browser, String) {
    let mut browser = Browser::default();
    let state = browser.begin(program, "?server=tracker", person).parameter("state").expect("a state");
    (browser, state)
}

fn code(state: &str) -> String {
    format!("?code=SECRET-code&state={state}")
}

fn is_signed_in(called: &Result<String, ClientError>) -> bool {
    match called {
        Ok(_) => true,
        Err(error) => {
            assert!(matches!(error.failure(), Failure::SignInRequired { .. }), "{error}");
            false
        }
    }
}

/// C63, C73, C80: another isolate finishes the sign-in. It discovers nothing: the code goes to the token endpoint that the first page found,
/// with the verifier, the resource and the same redirect URI. The tokens are saved before the page answers.
#[test]
fn a_code_is_exchanged_for_tokens() {
    let first = Program::new();
    let (mut browser, state) = begun(&first, "ada");
    let program = first.again(KEY, |sign_in| sign_in);
    // The servers name another authorization server now.
    let evil = json!({ "issuer": ISSUER, "token_endpoint": "https://evil.example/token" });
    program.authorization.change(SERVER_METADATA, &evil);
    program.authorization.change(RESOURCE_METADATA, &json!({ "authorization_servers": ["https://evil.example"] }));
    program.events.borrow_mut().clear();
    let page = browser.finish(&program, &code(&state), "ada");
    let sentence = "You are signed in to the server tracker. You can close this page.";
    assert_eq!((page.status, page.sentence(), browser.0.len()), (200, sentence, 0));
    let events = ["replace", "fetch https://auth.example/token", "get", "replace"];
    assert_eq!(*program.events.borrow(), events);
    for (name, expected) in [
        ("grant_type", "authorization_code"),
        ("code", "SECRET-code"),
        ("redirect_uri", "https://desk.example/sign-in/callback"),
        ("resource", TRACKER),
        ("client_id", "https://desk.example/sign-in/client.json"),
    ] {
        assert_eq!(program.field(TOKEN, name).as_deref(), Some(expected));
    }
    assert_eq!(program.field(TOKEN, "code_verifier").map(|verifier| verifier.len()), Some(43));
    assert_eq!(program.call("ada").expect("a result"), "in Lyon");
    assert_eq!(program.tracker.tokens().last(), Some(&access(1)));
}

/// C63: the challenge in the first request is the digest of the verifier in the second one.
#[test]
fn the_verifier_belongs_to_the_challenge() {
    use base64::Engine;
    let (program, mut browser) = (Program::new(), Browser::default());
    let page = browser.begin(&program, "?server=tracker", "ada");
    browser.finish(&program, &code(&page.parameter("state").expect("a state")), "ada");
    let verifier = program.field(TOKEN, "code_verifier").expect("a verifier");
    let digest = ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes());
    let challenge = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(digest);
    assert_eq!(page.parameter("code_challenge"), Some(challenge));
}

/// C65, the hostile case 50: another person does not finish a sign-in. Nothing is saved and no code is exchanged. The log says it.
#[test]
fn another_person_does_not_finish_a_sign_in() {
    let program = Program::new();
    let (mut browser, state) = begun(&program, "ada");
    let page = browser.finish(&program, &code(&state), "eve");
    assert_eq!(page.refusal(), "Another person began this sign-in. Nothing was saved.");
    assert!(page.deletes_a_cookie() && program.host.log_text().contains("another person than the one who began it"));
    assert!(program.sent(TOKEN).is_empty() && program.store.rows().is_empty());
    assert!(!is_signed_in(&program.call("eve")) && !is_signed_in(&program.call("ada")));
}

/// C64, the hostile case 50: a browser that keeps the cookie cannot use it twice, also not when the first attempt has failed.
#[test]
fn a_state_is_used_once() {
    for first in [None, Some(Reply::error("invalid_grant")), Some(Reply::silence())] {
        let program = Program::new();
        let (browser, state) = begun(&program, "ada");
        let fails = first.is_some();
        if let Some(reply) = first {
            program.authorization.reply(TOKEN, reply);
        }
        let page = browser.clone().finish(&program, &code(&state), "ada");
        assert_eq!(page.status, if fails { 400 } else { 200 });
        let page = browser.clone().finish(&program.again(KEY, |sign_in| sign_in), &code(&state), "ada");
        let used = "You cannot sign in to the server tracker, because this sign-in has been used already. Begin again.";
        assert_eq!(page.refusal(), used);
        assert!(page.deletes_a_cookie());
        assert_eq!(program.sent(TOKEN).len(), 1);
        // The mark is kept for as long as the cookie.
        assert_eq!(program.store.keeps()[0], Duration::from_mins(10));
    }
}

/// The hostile case 50, C63: a sign-in has 10 minutes.
#[test]
fn a_sign_in_expires() {
    for (seconds, status) in [(599, 200), (600, 400), (660, 400)] {
        let program = Program::new();
        let (mut browser, state) = begun(&program, "ada");
        program.host.advance(Duration::from_secs(seconds));
        let page = browser.finish(&program, &code(&state), "ada");
        assert_eq!(page.status, status);
        if status == 400 {
            assert_eq!(page.refusal(), "You did not sign in within 10 minutes. Begin again.");
            assert!(page.deletes_a_cookie() && program.sent(TOKEN).is_empty());
        }
    }
}

/// C63, C66, the hostile case 50: answers that belong to no sign-in of this browser. Each has the status 400, a fixed sentence, and deletes
/// the cookie that its state names.
#[test]
fn a_forged_callback_is_refused() {
    let program = Program::new();
    let (browser, state) = begun(&program, "ada");
    let (other, other_state) = begun(&program, "ada");
    let invalid = "The answer of the authorization server is not valid. Sign in again.";
    let named = |state: &str| state.get(..8).expect("a state").to_owned();
    let similar = format!("{}x", state.get(..42).expect("a state"));
    let long = "x".repeat(60 << 10);
    for (query, expected) in [
        ("?code=EVIL".to_owned(), WRONG_STATE),
        (String::new(), WRONG_STATE),
        ("?code=EVIL&state=".to_owned(), WRONG_STATE),
        ("?code=EVIL&state=%3Cscript%3EEVIL".to_owned(), WRONG_STATE),
        ("?code=EVIL&state=%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9".to_owned(), WRONG_STATE),
        // The state of another browser, and a state with the same name of the cookie.
        (format!("?code=EVIL&state={other_state}"), WRONG_STATE),
        (format!("?code=EVIL&state={similar}"), WRONG_STATE),
        (format!("?code=EVIL&state={}", named(&state)), WRONG_STATE),
        (format!("?code=EVIL&state={state}&state={state}"), invalid),
        (format!("?code=EVIL&state={state}&state={other_state}"), invalid),
        (format!("?code=EVIL&code=EVIL&state={state}"), invalid),
        (format!("?state={state}"), invalid),
        (format!("?code={long}&state={state}"), invalid),
    ] {
        let page = browser.clone().finish(&program, &query, "ada");
        assert_eq!(page.refusal(), expected, "{query}");
        assert!(!page.text.contains("EVIL") && !page.text.contains("script"), "{page:?}");
        let names_a_cookie = query.contains(&named(&state)) || query.contains(&named(&other_state));
        assert_eq!(page.deletes_a_cookie(), names_a_cookie, "{query}");
        let page = Browser::default().finish(&program, &query, "ada");
        assert_eq!(page.refusal(), WRONG_STATE, "{query}");
    }
    // A cookie whose value is another sign-in, is altered, or occurs twice.
    let (name, value) = browser.0[0].clone();
    for cookies in [
        vec![(name.clone(), other.0[0].1.clone())],
        vec![(name.clone(), altered(&value))],
        vec![(name.clone(), String::new())],
        vec![(name.clone(), value.clone()), (name.clone(), value.clone())],
        vec![(name.replace("__Host-", ""), value.clone())],
    ] {
        assert_eq!(Browser(cookies).finish(&program, &code(&state), "ada").refusal(), WRONG_STATE);
    }
    assert!(program.sent(TOKEN).is_empty() && program.store.rows().is_empty());
    // Two sign-ins of a browser do not disturb each other.
    let mut both = Browser([browser.0, other.0].concat());
    assert_eq!(both.finish(&program, &code(&other_state), "ada").status, 200);
    assert_eq!(both.finish(&program, &code(&state), "ada").status, 200);
}

/// C77: the table of RFC 9207, with what the metadata said when the sign-in began.
#[test]
fn the_issuer_of_an_answer_is_checked() {
    let equal = "&iss=https%3A%2F%2Fauth.example";
    for (supported, iss, is_accepted) in [
        (json!(true), equal, true),
        (json!(true), "", false),
        (json!(true), "&iss=https://evil.example", false),
        (json!(false), "&iss=https://auth.example/", false),
        (json!(null), "&iss=https://AUTH.example", false),
        (json!(null), "&iss=", false),
        (json!(false), equal, true),
        (json!(null), equal, true),
        (json!(false), "", true),
        (json!(null), "", true),
    ] {
        let program = Program::new();
        let supports = |value: &serde_json::Value| json!({ "authorization_response_iss_parameter_supported": value });
        program.authorization.change(SERVER_METADATA, &supports(&supported));
        let (mut browser, state) = begun(&program, "ada");
        program.authorization.change(SERVER_METADATA, &supports(&json!(null)));
        // An error of another authorization server is not read either.
        for query in [format!("?error=access_denied&state={state}{iss}"), format!("{}{iss}", code(&state))] {
            let is_error = query.contains("error=");
            let page = browser.clone().finish(&program, &query, "ada");
            match (is_accepted, is_error) {
                (true, true) => assert_eq!(page.refusal(), "You did not allow the access."),
                (true, false) => assert_eq!(page.status, 200, "{supported} {iss}"),
                (false, _) => assert_eq!(page.refusal(), WRONG_ISSUER, "{supported} {iss}"),
            }
        }
        assert_eq!(program.sent(TOKEN).len(), usize::from(is_accepted));
        browser.0.clear();
    }
}

/// C66, the hostile case 50: an error of the authorization server becomes a sentence of this program. Nothing of the query is shown.
#[test]
fn an_error_has_a_fixed_sentence() {
    for (error, expected) in [
        ("access_denied", "You did not allow the access."),
        ("server_error", "The authorization server is not available. Try again later."),
        ("temporarily_unavailable", "The authorization server is not available. Try again later."),
        ("invalid_scope", "The authorization server does not grant the requested scopes."),
        ("EVIL%3Cscript%3E", "The authorization server rejects the sign-in."),
        ("", "The authorization server rejects the sign-in."),
    ] {
        let program = Program::new();
        let (mut browser, state) = begun(&program, "ada");
        let query = format!("?error={error}&error_description=%3Cb%3EEVIL&error_uri=EVIL&code=EVIL&state={state}");
        let page = browser.finish(&program, &query, "ada");
        assert_eq!(page.refusal(), expected);
        assert!(!format!("{page:?}").contains("EVIL") && browser.0.is_empty(), "{page:?}");
        assert!(program.store.rows().is_empty() && program.sent(TOKEN).is_empty());
    }
}

/// C66: no page may be cached, framed, or run a script, and no other site learns its URL.
#[test]
fn pages_have_headers() {
    let check = |page: &Page| {
        for (name, expected) in [
            ("cache-control", "no-store"),
            ("referrer-policy", "same-origin"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(page.headers[name], expected, "{page:?}");
        }
        if !page.text.is_empty() {
            assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
        }
    };
    let (program, mut browser) = (Program::new(), Browser::default());
    let begun = browser.begin(&program, "?server=tracker&return_to=/x", "ada");
    let state = begun.parameter("state").expect("a state");
    check(&begun);
    check(&browser.begin(&program, "?server=unknown", "ada"));
    check(&browser.finish(&program, "?code=x", "ada"));
    check(&browser.finish(&program, &code(&state), "ada"));
    let (mut browser, state) = self::begun(&program, "ada");
    check(&browser.finish(&program, &code(&state), "ada"));
}

/// C80: if the store fails, the person is not signed in. Only the log has the cause.
#[test]
fn a_store_that_fails_ends_the_sign_in() {
    // The operations are: the mark, the read of the earlier tokens, and the write of the new ones.
    for operations in 0..3 {
        let program = Program::new();
        let (mut browser, state) = begun(&program, "ada");
        program.store.fail_after(operations);
        let page = browser.finish(&program, &code(&state), "ada");
        assert_eq!((page.status, page.sentence()), (500, "The sign-in failed. Try again later."));
        assert!(page.deletes_a_cookie(), "{page:?}");
        assert!(program.host.log_text().contains("STORE-DETAIL") && !program.host.log_text().contains("SECRET"));
        program.store.recover();
        assert!(!is_signed_in(&program.call("ada")));
    }
}
