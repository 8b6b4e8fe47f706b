//! The store of tokens, and the encryption of its values.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use base64::Engine;
use edge_mcp::client::{MemoryTokens, SignIn, SqliteTokens, TokenStore, TokenStoreError, token_migration};
use edge_mcp::host::Host;
use edge_mcp::storage::Database;
use edge_mcp::testing::{TestDatabase, run, token_store_contract};
use futures::future::{LocalBoxFuture, join};
use serde_json::json;

use super::authorization_server::{Reply, TOKEN};
use super::program::{KEY, PAGE, Program, query};

const HOUR: Duration = Duration::from_hours(1);
const NEW_KEY: &str = "a-new-key-for-tests-with-more-than-32-bytes";

fn database() -> TestDatabase {
    let database = TestDatabase::empty();
    database.migrate(token_migration()).expect("a table");
    database
}

fn same(sign_in: SignIn) -> SignIn {
    sign_in
}

/// C86: of two writes that know the same value, only one succeeds.
#[test]
fn a_store_replaces_only_the_known_value() {
    let (memory, test) = (MemoryTokens::new(), database());
    assert_eq!(run(token_store_contract(&memory)), Ok(()));
    assert_eq!(run(token_store_contract(&SqliteTokens::new(test.database()))), Ok(()));
    assert!(memory.is_empty());
}

/// A store that breaks a promise: it does not compare the values, or it waits between the comparison and the write, as Workers KV does.
struct Careless(&'static str, MemoryTokens);

impl TokenStore for Careless {
    fn get<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<Option<String>, TokenStoreError>> {
        self.1.get(key)
    }

    fn replace<'a>(
        &'a self,
        key: &'a str,
        current: Option<&'a str>,
        new: &'a str,
        keep: Duration,
    ) -> LocalBoxFuture<'a, Result<bool, TokenStoreError>> {
        Box::pin(async move {
            let stored = self.1.get(key).await?;
            if self.0 == "comparison" || self.0 == "wait" && stored.as_deref() == current {
                let mut has_waited = false;
                poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    if std::mem::replace(&mut has_waited, true) { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
                let stored = self.1.get(key).await?;
                return self.1.replace(key, stored.as_deref(), new, keep).await;
            }
            self.1.replace(key, current, new, keep).await
        })
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), TokenStoreError>> {
        if self.0 == "removal" { Box::pin(async { Ok(()) }) } else { self.1.remove(key) }
    }
}

#[test]
fn a_store_that_breaks_a_promise_is_told_which() {
    for (promise, sentence) in [
        ("comparison", "`replace` of a value that does not exist must return false."),
        ("wait", "Of 20 calls of `replace` with the same `current`, exactly one must succeed (got 20)."),
        ("removal", "`get` must return None after it is removed"),
    ] {
        let error = run(token_store_contract(&Careless(promise, MemoryTokens::new()))).expect_err(promise);
        assert!(error.starts_with(sentence), "{promise}: {error}");
    }
}

/// C86: a row that has expired is removed when another one is written.
#[test]
fn expired_rows_are_removed() {
    let test = database();
    let store = SqliteTokens::new(test.database());
    let count = |database: &Database| {
        run(database.query("SELECT count(*) FROM oauth_tokens").first::<u32>()).expect("a count").expect("a row")
    };
    let left = |database: &Database, key: &str| {
        let left = database.query("SELECT until - unixepoch() FROM oauth_tokens WHERE key = ?1").bind(key);
        run(left.first::<i64>()).expect("a number").expect("a row")
    };
    for key in ["a", "b"] {
        assert!(run(store.replace(key, None, "1", HOUR)).expect("a write"));
    }
    assert!((3590..=3600).contains(&left(&test.database(), "a")));
    assert!(run(store.replace("a", Some("1"), "2", HOUR * 2)).expect("a write"));
    assert!((7190..=7200).contains(&left(&test.database(), "a")), "a new value is kept for its own time");

    let expire = |key: &str| {
        let expire = test.database().query("UPDATE oauth_tokens SET until = unixepoch() - 1 WHERE key = ?1").bind(key);
        run(expire.run()).expect("a write");
    };
    expire("a");
    assert!(run(store.replace("c", None, "1", HOUR)).expect("a write"));
    assert_eq!(count(&test.database()), 2);
    // An expired value does not count, whatever the writer knows.
    expire("b");
    assert!(!run(store.replace("b", Some("1"), "2", HOUR)).expect("a write"));
    expire("c");
    assert!(run(store.replace("c", None, "3", HOUR)).expect("a write"));
    assert_eq!((count(&test.database()), run(store.get("c")).expect("a read").as_deref()), (1, Some("3")));
}

/// A database without the table, or one that does not answer, is an error without a value of the store.
#[test]
fn a_database_may_fail() {
    let store = SqliteTokens::new(TestDatabase::empty().database());
    let error = run(store.get("SECRET-key")).expect_err("no table").to_string();
    assert!(error.contains("oauth_tokens"), "{error}");
    let test = database();
    let store = SqliteTokens::new(test.database());
    test.fail_after(0);
    let errors = [
        run(store.get("SECRET-key")).expect_err("a failure"),
        run(store.replace("SECRET-key", None, "SECRET-value", HOUR)).expect_err("a failure"),
        run(store.remove("SECRET-key")).expect_err("a failure"),
    ];
    assert!(errors.iter().all(|error| !format!("{error} {error:?}").contains("SECRET")), "{errors:?}");
}

/// C86: keys are digests and values are encrypted. Nothing in a row tells about a person, a server or a token.
#[test]
fn rows_are_encrypted() {
    let test = database();
    let program = Program::at(PAGE, SqliteTokens::new(test.database()), same);
    program.sign_in_as("ada");
    let rows = test.database().query("SELECT key, value FROM oauth_tokens").all::<(String, String)>();
    let rows = run(rows).expect("rows");
    assert_eq!(rows.len(), 2);
    for (key, value) in &rows {
        assert_eq!(key.len(), 43);
        for text in [key, value] {
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{text}");
            let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).expect("base64url");
            let shown = String::from_utf8_lossy(&bytes);
            assert!(!["SECRET", "tracker", "auth.example", "ada"].iter().any(|known| shown.contains(known)), "{shown}");
        }
    }
}

/// C86: a row that is copied under the key of another person does not open. It counts as none, is logged, and is not lost.
#[test]
fn a_copied_row_does_not_open() {
    let program = Program::new();
    program.sign_in_as("ada");
    let of_ada = program.store.rows();
    program.sign_in_as("eve");
    let of_eve = program.store.rows().into_iter().filter(|(key, _)| !of_ada.contains_key(key));
    let tokens = |rows: Vec<(String, String)>| rows.into_iter().max_by_key(|(_, value)| value.len()).expect("a row");
    let (ada, eve) = (tokens(of_ada.clone().into_iter().collect()), tokens(of_eve.collect()));
    assert!(run(program.store.replace(&eve.0, Some(&eve.1), &ada.1, HOUR)).expect("a write"));
    query(&program.call("eve").expect_err("a failure"));
    assert_eq!(program.tracker.tokens().last().map(String::as_str), Some(""));
    let log = program.host.log_text();
    assert!(log.contains("a value of the token store cannot be decrypted: check MCP_TOKEN_KEY"), "{log}");
    assert_eq!(program.store.rows()[&eve.0], ada.1);
    // The row of another purpose, and texts that are not encrypted.
    let mark = of_ada.values().min_by_key(|value| value.len()).expect("a row");
    for text in [mark.as_str(), "", "x", "\u{e9}", &"A".repeat(9000)] {
        let current = program.store.rows()[&eve.0].clone();
        assert!(run(program.store.replace(&eve.0, Some(&current), text, HOUR)).expect("a write"));
        query(&program.call("eve").expect_err("a failure"));
    }
    // A new sign-in replaces such a row.
    program.sign_in_as("eve");
    program.call("eve").expect("a result");
    program.call("ada").expect("a result");
}

/// C86: each key can decrypt and the first one encrypts, so a key can be replaced. A row that is used is written with the new key. Without
/// its key, a row stays in the store.
#[test]
fn keys_can_be_rotated() {
    let program = Program::new();
    program.sign_in_as("ada");
    let only_new = program.again(NEW_KEY, same);
    let rows = program.store.rows();
    query(&only_new.call("ada").expect_err("a failure"));
    assert!(program.host.log_text().contains("cannot be decrypted"));
    assert_eq!(program.store.rows(), rows);
    let both = program.again(&format!("{NEW_KEY} {KEY}"), same);
    both.call("ada").expect("a result");
    only_new.call("ada").expect("a result");
    query(&program.call("ada").expect_err("a failure"));
    // A value with the new key is not written again.
    let rows = program.store.rows();
    both.call("ada").expect("a result");
    assert_eq!((program.store.rows(), program.sent(TOKEN).len()), (rows, 1));
}

/// C86: a row that another request has leased is not written again, because this would end the lease.
#[test]
fn a_leased_row_is_not_written_again() {
    let program = Program::new();
    program.sign_in_as("ada");
    program.tracker.accepted.clear();
    // The token is rejected before its end. While the program refreshes it, another isolate with a new key uses the stored one.
    program.authorization.reply(TOKEN, tokens(Duration::from_secs(2)));
    program.tracker.accepted.add("SECRET-access-7");
    let both = program.again(&format!("{NEW_KEY} {KEY}"), same);
    let (call, other, host) = (program.calling("ada"), both.calling("ada"), program.host.clone());
    let later = async {
        host.sleep(Duration::from_secs(1)).await;
        other.await
    };
    let (called, other) = super::browser::run(&program.host, join(call, later));
    assert_eq!((called.expect("a result").as_str(), other.expect("a result").as_str()), ("in Lyon", "in Lyon"));
    assert_eq!(program.sent(TOKEN).len(), 2);
}

fn tokens(pause: Duration) -> Reply {
    let tokens = json!({ "access_token": "SECRET-access-7", "refresh_token": "r-7", "token_type": "Bearer" });
    Reply::new(200, &tokens).after(pause)
}
