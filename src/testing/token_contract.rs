//! The contract of a store of tokens: the promises of [`TokenStore`].

use std::time::Duration;

use futures::future::join_all;

use crate::client::{TokenStore, TokenStoreError};

/// The keys of the contract.
const KEYS: [&str; 2] = ["contract-key", "contract-other-key"];
/// Values that are written must be returned byte by byte.
const VALUES: [&str; 4] = ["one", "two", "", "three \u{1f511} '\"\\\n\u{1}"];
const KEEP: Duration = Duration::from_hours(1);
/// The number of calls that write at the same time.
const PARALLEL: usize = 20;

/// Checks that a store of tokens keeps the promises of [`TokenStore`]: values, conditions, removal, and writes at the same time.
///
/// The contract writes the keys `contract-key` and `contract-other-key`, and removes them.
///
/// ```
/// use edge_mcp::client::MemoryTokens;
/// use edge_mcp::testing::{self, token_store_contract};
///
/// testing::run(async { assert_eq!(token_store_contract(&MemoryTokens::new()).await, Ok(())) });
/// ```
///
/// # Errors
/// A sentence about the first promise that the store does not keep.
pub async fn token_store_contract(store: &dyn TokenStore) -> Result<(), String> {
    let checked = check(store).await;
    for key in KEYS {
        store.remove(key).await.map_err(failed("`remove`"))?;
    }
    checked
}

fn failed(call: &'static str) -> impl Fn(TokenStoreError) -> String {
    move |error| format!("{call} failed: {error}")
}

async fn check(store: &dyn TokenStore) -> Result<(), String> {
    let [key, other] = KEYS;
    for key in KEYS {
        expect(store, key, None, "before it is written").await?;
    }
    replace(store, key, Some("absent"), "one", false, "a value that does not exist").await?;
    let mut current = None;
    for value in VALUES {
        replace(store, key, current, value, true, "the current value").await?;
        expect(store, key, Some(value), "after it is written").await?;
        replace(store, key, None, "absent", false, "no value, although there is one").await?;
        replace(store, key, Some("old"), "absent", false, "another value").await?;
        expect(store, key, Some(value), "after writes that were rejected").await?;
        expect(store, other, None, "after another key is written").await?;
        current = Some(value);
    }
    replace(store, other, None, "other", true, "no value").await?;
    for _ in 0..2 {
        store.remove(key).await.map_err(failed("`remove`"))?;
        expect(store, key, None, "after it is removed").await?;
    }
    expect(store, other, Some("other"), "after another key is removed").await?;
    replace(store, key, None, "again", true, "no value, after it was removed").await?;

    for current in [Some("again"), None] {
        let values: Vec<_> = (0..PARALLEL).map(|nth| format!("parallel {nth}")).collect();
        let writes = values.iter().map(|value| store.replace(key, current, value, KEEP));
        let written = join_all(writes).await.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed("`replace`"))?;
        let winners: Vec<_> =
            values.iter().zip(written).filter(|(_, is_written)| *is_written).map(|(value, _)| value).collect();
        let [winner] = winners.as_slice() else {
            let count = winners.len();
            return Err(format!(
                "Of {PARALLEL} calls of `replace` with the same `current`, exactly one must succeed (got {count})."
            ));
        };
        expect(store, key, Some(winner), "after writes at the same time").await?;
        store.remove(key).await.map_err(failed("`remove`"))?;
    }
    Ok(())
}

async fn expect(store: &dyn TokenStore, key: &str, expected: Option<&str>, when: &str) -> Result<(), String> {
    let value = store.get(key).await.map_err(failed("`get`"))?;
    if value.as_deref() == expected {
        Ok(())
    } else {
        Err(format!("`get` must return {expected:?} {when} (got {value:?})."))
    }
}

async fn replace(
    store: &dyn TokenStore,
    key: &str,
    current: Option<&str>,
    new: &str,
    expected: bool,
    of: &str,
) -> Result<(), String> {
    let is_written = store.replace(key, current, new, KEEP).await.map_err(failed("`replace`"))?;
    if is_written == expected { Ok(()) } else { Err(format!("`replace` of {of} must return {expected}.")) }
}
