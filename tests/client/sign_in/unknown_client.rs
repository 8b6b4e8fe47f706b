//! Tokens whose client this program does not know now, and the lifetime of a registered client.

use std::time::Duration;

use edge_mcp::client::{MemoryTokens, SignIn};
use serde_json::json;

use super::authorization_server::{ISSUER, REGISTER, SERVER_METADATA, TOKEN, access};
use super::program::{KEY, PAGE, Program, own_client, query};

const NEW_KEY: &str = "a-new-key-for-tests-with-more-than-32-bytes";
const ENDED: Duration = Duration::from_secs(3601);
const DAY: Duration = Duration::from_hours(24);

/// A program that has registered itself, and in which ada has signed in.
fn registered() -> Program {
    let program = Program::with(SignIn::dynamic_registration);
    let members = json!({ "client_id_metadata_document_supported": false, "registration_endpoint": REGISTER });
    program.authorization.change(SERVER_METADATA, &members);
    program.sign_in_as("ada");
    program
}

/// C75, C86: a registered client is encrypted with the new key as soon as it is used, so the old key can be removed after that.
#[test]
fn a_used_client_needs_only_the_new_key() {
    let program = registered();
    let both = program.again(&format!("{NEW_KEY} {KEY}"), SignIn::dynamic_registration);
    program.host.advance(ENDED);
    both.call("ada").expect("a result");
    let only_new = program.again(NEW_KEY, SignIn::dynamic_registration);
    for number in 2..4 {
        program.host.advance(ENDED);
        assert_eq!(only_new.call("ada").expect("a result"), "in Lyon");
        assert_eq!(program.sent(TOKEN).len(), number + 1);
    }
    assert_eq!(program.sent(REGISTER).len(), 1);
}

/// C86: a key that is removed too early does not erase tokens. With the key, they can be used again.
#[test]
fn a_client_that_cannot_be_decrypted_does_not_erase_tokens() {
    let program = registered();
    let both = program.again(&format!("{NEW_KEY} {KEY}"), SignIn::dynamic_registration);
    both.call("ada").expect("a result");
    // The row of ada has the new key. That of the client, which was not used, has the old one.
    let (rows, requests) = (program.store.rows(), program.sent(TOKEN).len());
    program.host.advance(ENDED);
    let only_new = program.again(NEW_KEY, SignIn::dynamic_registration);
    for _ in 0..2 {
        query(&only_new.call("ada").expect_err("a failure"));
    }
    assert_eq!((program.store.rows(), program.sent(TOKEN).len()), (rows, requests));
    assert!(program.host.log_text().contains("does not know the client that it was issued to"));
    assert_eq!(both.call("ada").expect("a result"), "in Lyon");
}

/// A deployment with another client does not erase tokens either.
#[test]
fn a_deployment_with_another_client_does_not_erase_tokens() {
    let of = |id: &'static str| move |sign_in: SignIn| sign_in.client(own_client(ISSUER, id));
    let program = Program::at(PAGE, MemoryTokens::new(), of("desk-1"));
    program.sign_in_as("ada");
    let wrong = program.again(KEY, of("desk-2"));
    // The token is due, but still valid.
    program.host.advance(Duration::from_secs(3550));
    assert_eq!(wrong.call("ada").expect("a result"), "in Lyon");
    program.host.advance(ENDED);
    let rows = program.store.rows();
    query(&wrong.call("ada").expect_err("a failure"));
    assert_eq!((program.store.rows(), program.sent(TOKEN).len()), (rows, 1));
    assert_eq!(program.call("ada").expect("a result"), "in Lyon");
    assert_eq!(program.tracker.tokens().last(), Some(&access(2)));
}

/// C75: a registered client and a token are kept from their last use, and not from their first one.
#[test]
fn rows_that_are_used_are_kept() {
    let program = registered();
    let keep = DAY * 400;
    // A refresh writes the tokens. The client is written again after half of its time.
    for (days, writes) in [(199, 2), (2, 3), (199, 2), (2, 3)] {
        program.host.advance(DAY * days);
        let before = program.store.keeps().len();
        program.call("ada").expect("a result");
        let written = program.store.keeps().split_off(before);
        assert_eq!(written, vec![keep; writes], "{days}");
    }
    assert_eq!(program.sent(REGISTER).len(), 1);
    // A new sign-in uses the client too.
    program.host.advance(DAY * 201);
    program.sign_in_as("bob");
    let keeps = program.store.keeps();
    assert_eq!(keeps.iter().rev().take(3).filter(|time| **time == keep).count(), 2, "{keeps:?}");

    let program = Program::new();
    program.authorization.issue(&json!({ "refresh_token": null, "expires_in": null }));
    program.sign_in_as("ada");
    for writes in [0, 1, 0, 1] {
        program.host.advance(DAY * 150);
        let before = program.store.keeps().len();
        program.call("ada").expect("a result");
        assert_eq!(program.store.keeps().len() - before, writes);
    }
}
