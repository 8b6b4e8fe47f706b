//! Tests of the tools that publish skills: what they refuse, and that they change nothing then.

use edge_mcp::skills::digest;
use edge_mcp::testing::{self, Client};
use edge_mcp::{ResourceContents, StaticTokens};
use serde_json::{Value, json};

use super::skills::{Base, Folder, entries, folder, refunds};

/// Skills of two sets cannot have one URI, or be inside one another. A set that conflicts is not published, and the message names the other.
#[test]
fn sets_do_not_share_skills() {
    let base = Base::new();
    let first = folder([("team/a/SKILL.md", b"1".as_slice()), ("team/b/c/SKILL.md", b"2")]);
    base.publish("first", &first);
    for path in ["team/a/SKILL.md", "team/a/x/SKILL.md", "team/b/SKILL.md", "team/SKILL.md", "team/b/c/d/e/SKILL.md"] {
        let other = folder([(path, b"3".as_slice())]);
        base.save(&other);
        base.refuses("second", &entries(&other), "belongs to the set `first`");
    }
    for path in ["team/b/d/SKILL.md", "team/a-b/SKILL.md", "a/SKILL.md", "team/a.b/a/SKILL.md"] {
        assert_eq!(base.publish("second", &folder([(path, b"3".as_slice())])).0, 1, "{path}");
    }
    assert_eq!(base.publish("second", &Folder::new()), (0, 0, 1));
    base.has_exactly(&first);
}

/// S3 to S8, S10: the server checks entries again, and publishes all of them or none.
#[test]
fn wrong_entries_change_nothing() {
    let base = Base::new();
    base.publish("orders", &refunds());
    let good = folder([("a/SKILL.md", b"1".as_slice())]);
    let with = |key: &str, value: Value| {
        let mut entry = entries(&good).remove(0);
        entry[key] = value;
        vec![entries(&refunds()).remove(0), entry]
    };
    base.save(&good);
    base.refuses("orders", &with("uri", json!("skill://b/SKILL.md")), "must have a `name`");
    base.refuses("orders", &with("resources", json!("dynamic")), "list of all files");
    base.refuses("orders", &with("frontmatter", json!({ "name": "a" })), "`description`");
    base.refuses("orders", &[entries(&good), entries(&good)].concat(), "ordered by their URIs, each once");
    base.refuses("orders", &entries(&refunds())[1..2], "must also be a skill of its own");
    let compiled = entries(&folder([("edge-mcp/write-an-mcp-server/SKILL.md", b"1".as_slice())]));
    base.refuses("orders", &compiled, "skill://edge-mcp/");
    let unknown = entries(&folder([("a/SKILL.md", b"never saved".as_slice())]));
    base.refuses("orders", &unknown, "No stored file has the digest and the size of `skill://a/SKILL.md`");
    let sized = with("resources", json!([{ "uri": "skill://a/SKILL.md", "digest": digest(b"1"), "size": 2 }]));
    base.refuses("orders", &sized[1..], "No stored file has the digest and the size");
    let name = "x".repeat(1500);
    let long: Folder = (0..200).map(|nth| (format!("a/{name}{nth}"), b"1".to_vec())).chain(good).collect();
    base.refuses("orders", &entries(&long), "must have at most 300000");
    assert_eq!(base.publish("orders", &refunds()), (0, 3, 0));
    base.has_exactly(&refunds());
}

/// The server calculates the digest, so no other bytes are stored under it. Files have a limit, also together.
#[test]
fn files_with_mistakes_are_not_stored() {
    let base = Base::new();
    let blob = |bytes: &[u8]| json!(ResourceContents::blob("", bytes))["blob"].clone();
    let good = json!({ "digest": digest(b"good"), "base64": blob(b"good") });
    let large = vec![b'x'; 1_500_001];
    for (file, words) in [
        (json!({ "digest": digest(b"x"), "base64": blob(b"y") }), "is not the digest of its file"),
        (json!({ "digest": digest(b"x").to_uppercase(), "base64": blob(b"x") }), "is not the digest"),
        (json!({ "digest": digest(b"x"), "base64": "eA" }), "is not base64"),
        (json!({ "digest": digest(&large), "base64": blob(&large) }), "must have at most 1500000"),
        (json!({ "digest": digest(b"x"), "base64": "x".repeat(2_500_001) }), "2500000 bytes of base64"),
    ] {
        let answer = base.call("save-skill-files", json!({ "files": [good, file] }));
        assert!(answer.is_error() && answer.text().contains(words), "{words}: {}", answer.text());
        assert_eq!(base.tables()[0].len(), 0);
    }
    let most = &large[1..];
    let files =
        json!([good, { "digest": digest(most), "base64": blob(most) }, { "digest": digest(b""), "base64": "" }, good]);
    let saved = base.call("save-skill-files", json!({ "files": files }));
    assert_eq!(saved.text(), "4 files stored");
    let asked = json!([digest(b"good"), "x", digest(b"other"), digest(most), digest(b"")]);
    let missing = base.call("missing-skill-files", json!({ "digests": asked }));
    assert_eq!(missing.text(), format!("x\n{}", digest(b"other")));
    let mut entry = entries(&folder([("a/SKILL.md", b"good".as_slice()), ("a/most", most)])).remove(0);
    assert!(!base.publish_entries("s", &[entry.clone()]).is_error());
    assert_eq!(base.bytes("skill://a/most").as_deref(), Some(most));
    entry["resources"] = json!([]);
    base.refuses("s", &[entry], "its own SKILL.md");
}

/// S10, extension case 18: 512 files and 16 MiB are the most. An empty file, a skill of one file, and a nested skill of the same name pass.
#[test]
fn a_skill_has_limits() {
    let base = Base::new();
    let many = |count: usize| -> Folder {
        (1..count)
            .map(|nth| (format!("a/{nth}"), Vec::new()))
            .chain([("a/SKILL.md".to_owned(), b"1".to_vec())])
            .collect()
    };
    base.save(&many(2));
    assert!(!base.publish_entries("s", &entries(&many(512))).is_error());
    base.refuses("s", &entries(&many(513)), "at most 512 files");
    let mut entry = entries(&many(1)).remove(0);
    entry["resources"][0]["size"] = json!((16 << 20) + 1);
    base.refuses("s", &[entry], "16 MiB");
    let nested = folder([("a/SKILL.md", b"1".as_slice()), ("a/a/SKILL.md", b"")]);
    base.publish("s", &nested);
    base.has_exactly(&nested);
}

/// The database fails at each of its requests in turn. The caller gets an error, nothing is lost, and the next call succeeds.
#[test]
fn a_failing_database_loses_nothing() {
    let new = folder([("a/SKILL.md", b"1".as_slice())]);
    let entries: Vec<_> = entries(&new).iter().map(Value::to_string).collect();
    let file = json!({ "digest": digest(b"x"), "base64": "eA==" });
    for (tool, arguments) in [
        ("missing-skill-files", json!({ "digests": [digest(b"1")] })),
        ("save-skill-files", json!({ "files": [file] })),
        ("publish-skills", json!({ "set": "orders", "entries": entries })),
    ] {
        for remaining in 0..=1 {
            let base = Base::new();
            base.publish("orders", &refunds());
            base.save(&new);
            let before = base.tables();
            base.database.fail_after(remaining);
            let answer = base.call(tool, arguments.clone());
            base.database.recover();
            assert_eq!(answer.is_error(), remaining == 0, "{tool} after {remaining}: {answer:?}");
            assert!(!format!("{answer:?}").contains("lets it fail"), "{answer:?}");
            if answer.is_error() {
                assert_eq!(base.tables(), before, "{tool}");
            }
            assert!(!base.call(tool, arguments.clone()).is_error(), "{tool}");
        }
    }
}

/// S26: the tools that change skills need the scope kb:write and are listed only with it. Skills need kb:read.
#[test]
fn skills_need_scopes() {
    let base = Base::new();
    base.publish("orders", &refunds());
    let token = |scope: &str| json!({ "token": scope, "subject": scope, "scopes": [scope] });
    let tokens = json!([token("kb:read"), token("kb:write")]).to_string();
    let endpoint = base.endpoint().auth(StaticTokens::from_json("TOKENS", Some(&tokens)).expect("tokens"));
    for (scope, listed, skills) in [("kb:read", false, 4), ("kb:write", true, 0)] {
        let client = Client::new(&endpoint).token(scope);
        let tools = testing::run(client.list("tools")).names().join(" ");
        let answer = testing::run(client.request("skills/list", json!({})));
        assert_eq!(answer.result()["skills"].as_array().map(Vec::len), Some(skills), "{scope}");
        assert_eq!(answer.result()["cacheScope"], "private");
        for tool in ["missing-skill-files", "save-skill-files", "publish-skills"] {
            assert_eq!(tools.contains(tool), listed, "{scope}: {tools}");
            assert_eq!(testing::run(client.call(tool, json!({}))).status() == 403, !listed, "{scope}: {tool}");
        }
    }
}

/// The JSON text of an entry reaches clients unchanged: large numbers are not rounded, and members are not sorted.
#[test]
fn entries_are_not_rewritten() {
    let base = Base::new();
    base.save(&folder([("a/SKILL.md", b"1".as_slice())]));
    let frontmatter = r#"{"z":1e2,"name":"a","description":"é\u00e9","b":12345678901234567890.10}"#;
    let entry = format!(
        r#"{{ "frontmatter":{frontmatter}, "uri":"skill://a/SKILL.md","resources":[{{"size":1,"uri":"skill://a/SKILL.md","digest":"{}"}}]}}"#,
        digest(b"1")
    );
    assert!(!base.call("publish-skills", json!({ "set": "s", "entries": [entry] })).is_error());
    let entries = base.database.database().query("SELECT entry FROM skills").all::<String>();
    assert_eq!(testing::run(entries), Ok(vec![entry.clone()]));
    let get = base.request("skills/get", json!({ "uri": "skill://a/SKILL.md" }));
    assert_eq!(get.result()["skill"]["frontmatter"], serde_json::from_str::<Value>(frontmatter).expect("JSON"));
}
