//! The cases of the store of keys.

use std::time::Duration;

use edge_mcp::storage::{KvError, KvStore, ListKeys};

/// The rules, as docs/testing.md has them.
pub(crate) const RULES: &[&str] = &[
    "A key has 1 to 512 bytes, and is not `.` or `..`",
    "A value has at most 25 MiB, and any bytes",
    "A value expires after 60 s at the earliest",
    "Keys are listed in the order of their bytes, in pages of at most 1 000",
];

/// Checks a condition of a rule.
struct Checks(Vec<String>);

impl Checks {
    fn expect(&mut self, rule: usize, is_met: bool, what: impl std::fmt::Debug) {
        if !is_met {
            self.0.push(format!("{}: {what:?}", RULES[rule]));
        }
    }
}

pub(crate) async fn check(store: &KvStore) -> Vec<String> {
    let mut checks = Checks(Vec::new());
    if let Err(error) = run(store, &mut checks).await {
        checks.0.push(error.to_string());
    }
    checks.0
}

async fn run(store: &KvStore, checks: &mut Checks) -> Result<(), KvError> {
    let longest = "k".repeat(512);
    store.put(&longest, "v").await?;
    checks.expect(0, store.get(&longest).await? == Some("v".into()), "the longest key");
    for invalid in ["", ".", "..", &"k".repeat(513), &"é".repeat(257)] {
        checks.expect(0, store.put(invalid, "v").await.is_err() && store.get(invalid).await.is_err(), invalid);
    }
    checks.expect(0, store.get("nothing").await?.is_none(), "a key without a value");
    store.delete("nothing").await?;
    store.delete(&longest).await?;
    checks.expect(0, store.get(&longest).await?.is_none(), "a deleted key");

    store.put("bytes", [255, 0]).await?;
    checks.expect(1, store.get_bytes("bytes").await? == Some(vec![255, 0]), "bytes");
    checks.expect(1, store.get("bytes").await.is_err(), "bytes that are not UTF-8");
    store.put("empty", "").await?;
    checks.expect(1, store.get("empty").await? == Some(String::new()), "an empty value");
    store.put_json("json", &vec![1, 2]).await?;
    checks.expect(1, store.get_json::<Vec<u8>>("json").await? == Some(vec![1, 2]), "JSON");
    checks.expect(1, store.get_json::<String>("json").await.is_err(), "JSON of another type");
    checks.expect(1, store.put("large", vec![b'x'; (25 << 20) + 1]).await.is_err(), "25 MiB and a byte");
    for key in ["bytes", "empty", "json"] {
        store.delete(key).await?;
    }

    store.put_for("soon", "v", Duration::from_mins(1)).await?;
    checks.expect(2, store.put_for("sooner", "v", Duration::from_secs(59)).await.is_err(), "59 s");
    let listed = store.list(ListKeys { prefix: "soon".into(), ..ListKeys::default() }).await?;
    checks.expect(2, listed.keys.len() == 1 && listed.keys.iter().all(|key| key.expires.is_some()), listed);
    store.delete("soon").await?;

    for key in ["b", "a/2", "a/1", "B", "é", "\u{FFFD}", "\u{1F600}"] {
        store.put(key, key).await?;
    }
    let mut names = Vec::new();
    let mut cursor = None;
    loop {
        let page = store.list(ListKeys { limit: Some(3), cursor, ..ListKeys::default() }).await?;
        names.extend(page.keys.into_iter().map(|key| key.name));
        cursor = page.cursor;
        if cursor.is_none() || names.len() > 20 {
            break;
        }
    }
    checks.expect(3, names == ["B", "a/1", "a/2", "b", "é", "\u{FFFD}", "\u{1F600}"], &names);
    let listed = store.list(ListKeys { prefix: "a/".into(), limit: Some(1), cursor: None }).await?;
    checks.expect(3, listed.keys.len() == 1 && listed.cursor.is_some(), listed);
    for limit in [0, 1001] {
        checks.expect(3, store.list(ListKeys { limit: Some(limit), ..ListKeys::default() }).await.is_err(), limit);
    }
    Ok(())
}
