//! Sign-ins for more scopes.

use std::time::Duration;

use edge_mcp::client::Failure;
use serde_json::json;

use super::authorization_server::{TOKEN, access};
use super::program::{Program, query};
use super::tracker::insufficient;

/// Returns a program in which ada has signed in, with the scopes that the authorization server has granted.
fn program(granted: &str) -> Program {
    let program = Program::with(|sign_in| sign_in.scopes(["a", "b"]));
    program.authorization.issue(&json!({ "scope": granted }));
    program.sign_in_as("ada");
    program
}

/// Calls while the tracker requires other scopes. Returns the query of the link, if there is one.
fn link(program: &Program, required: &str) -> Option<String> {
    program.tracker.answer(insufficient(required));
    let calls = program.tracker.tokens().len();
    let error = program.call("ada").expect_err("a failure");
    assert_eq!(program.tracker.tokens().len(), calls + 1, "the request is not repeated");
    match error.failure() {
        Failure::ScopeRequired { scopes } => {
            assert_eq!(scopes.join(" "), required.split(' ').filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" "));
            None
        }
        _ => Some(query(&error)),
    }
}

/// C85: the sign-in requests the scopes that were granted, those that were asked for before, and those of the challenge. Nothing is refreshed.
#[test]
fn a_sign_in_for_more_scopes_keeps_the_others() {
    let program = program("a x");
    let link = link(&program, "c a d").expect("a link");
    let begun = program.sign_in_at(&link, "ada");
    assert_eq!(begun.parameter("scope").as_deref(), Some("a x b c d"));
    assert_eq!(program.call("ada").expect("a result"), "in Lyon");
    assert_eq!((program.tracker.tokens().last(), program.sent(TOKEN).len()), (Some(&access(2)), 2));
}

/// C85, the hostile case 52: a sign-in that cannot add a scope is not offered.
#[test]
fn a_sign_in_that_adds_nothing_is_not_offered() {
    let program = program("a b");
    for required in ["a", "b a", "", "b b"] {
        program.tracker.answer(insufficient(required));
        let error = program.call("ada").expect_err("a failure");
        assert!(matches!(error.failure(), Failure::ScopeRequired { .. }), "{required}: {error}");
    }
    // A refresh may have fewer scopes, and a sign-in can add them again.
    program.authorization.issue(&json!({ "scope": "a" }));
    program.host.advance(Duration::from_hours(1));
    program.call("ada").expect("a result");
    assert!(link(&program, "b").is_some());
}

/// C85, the hostile case 52: after three sign-ins for the same scopes within 10 minutes, there is no link until the first of them is older.
#[test]
fn the_same_scopes_are_requested_three_times() {
    let program = program("a b");
    for _ in 0..3 {
        let link = link(&program, "c").expect("a link");
        program.sign_in_at(&link, "ada");
        program.host.advance(Duration::from_mins(2));
    }
    assert_eq!(link(&program, "c"), None);
    // A refresh does not forget the sign-ins, and another isolate counts them too.
    let other = program.again(super::program::KEY, |sign_in| sign_in);
    program.tracker.accepted.clear();
    other.call("ada").expect("a result");
    assert_eq!(link(&other, "c"), None);
    assert!(link(&other, "c d").is_some(), "other scopes");
    // The first of the three sign-ins was 6 minutes ago.
    program.host.advance(Duration::from_millis(239_999));
    assert_eq!(link(&program, "c"), None);
    program.host.advance(Duration::from_secs(2));
    assert!(link(&program, "c").is_some());
}

/// The hostile case 52: of a thousand scopes, a sign-in requests 64, and no more than three sign-ins are offered.
#[test]
fn the_scopes_of_a_challenge_are_bounded() {
    let program = program("a b");
    let many = |prefix: &str| (0..1000).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>().join(" ");
    let mut links = 0;
    for _ in 0..5 {
        program.tracker.answer(insufficient(&many("s")));
        let error = program.call("ada").expect_err("a failure");
        let Failure::SignInRequired { .. } = error.failure() else { continue };
        let begun = program.sign_in_at(&query(&error), "ada");
        let scopes = begun.parameter("scope").expect("scopes");
        assert!(scopes.split(' ').count() <= 64, "{scopes}");
        links += 1;
    }
    assert_eq!(links, 3);
    // Scopes that are too long for a link.
    let program = self::program("a b");
    let long = (0..64).map(|number| format!("{number:0>90}")).collect::<Vec<_>>().join(" ");
    program.tracker.answer(insufficient(&long));
    let error = program.call("ada").expect_err("a failure");
    assert!(matches!(error.failure(), Failure::Local(_)), "{error}");
}
