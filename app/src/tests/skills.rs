//! Tests of the skills in the database: how they are published, and how clients read them.

use std::collections::{BTreeMap, BTreeSet};

use edge_mcp::protocol::Revision;
use edge_mcp::skills::digest;
use edge_mcp::testing::{self, Answer, Client, TestDatabase, TestHost};
use edge_mcp::{Endpoint, ResourceContents};
use serde_json::{Value, json};

use super::{endpoint, migrated};

/// The files of a folder by their paths, with their bytes.
pub(super) type Folder = BTreeMap<String, Vec<u8>>;

pub(super) fn folder<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Folder {
    files.into_iter().map(|(path, bytes)| (path.to_owned(), bytes.to_vec())).collect()
}

/// Returns the entries of the skills of a folder, with complete lists of files.
pub(super) fn entries(files: &Folder) -> Vec<Value> {
    let roots = files.keys().filter_map(|path| path.strip_suffix("/SKILL.md"));
    let entry = |root: &str| {
        let inside = files.iter().filter(|(path, _)| path.starts_with(&format!("{root}/")));
        let resource = |(path, bytes): (&String, &Vec<u8>)| json!({ "uri": format!("skill://{path}"), "digest": digest(bytes), "size": bytes.len() });
        let name = root.rsplit('/').next().expect("a name");
        json!({
            "uri": format!("skill://{root}/SKILL.md"),
            // Members in another order than that of the alphabet, and a number that a double does not have.
            "frontmatter": { "name": name, "description": format!("About {name}."), "a": 1 },
            "resources": inside.map(resource).collect::<Vec<_>>(),
        })
    };
    let mut entries: Vec<_> = roots.map(entry).collect();
    entries.sort_by_key(|entry| entry["uri"].as_str().map(str::to_owned));
    entries
}

pub(super) struct Base {
    pub(super) database: TestDatabase,
}

impl Base {
    pub(super) fn new() -> Self {
        Self { database: migrated() }
    }

    pub(super) fn endpoint(&self) -> Endpoint {
        endpoint(&self.database, None)
    }

    pub(super) fn request(&self, method: &str, params: Value) -> Answer {
        testing::run(Client::new(&self.endpoint()).request(method, params))
    }

    pub(super) fn call(&self, tool: &str, arguments: Value) -> Answer {
        testing::run(Client::new(&self.endpoint()).call(tool, arguments))
    }

    /// Stores the files, which a program does before it publishes them.
    pub(super) fn save(&self, files: &Folder) {
        for file in files.values() {
            let blob = json!(ResourceContents::blob("", file))["blob"].clone();
            let saved = self.call("save-skill-files", json!({ "files": [{ "digest": digest(file), "base64": blob }] }));
            assert!(!saved.is_error(), "{saved:?}");
        }
    }

    pub(super) fn publish_entries(&self, set: &str, entries: &[Value]) -> Answer {
        let entries: Vec<_> = entries.iter().map(Value::to_string).collect();
        let types = json!(["md=text/markdown", "txt=text/plain"]);
        self.call("publish-skills", json!({ "set": set, "entries": entries, "types": types }))
    }

    /// Stores and publishes a folder. Returns the numbers of the changes: published, unchanged, removed.
    pub(super) fn publish(&self, set: &str, files: &Folder) -> (usize, usize, usize) {
        self.save(files);
        let answer = self.publish_entries(set, &entries(files));
        assert!(!answer.is_error(), "{answer:?}");
        let lines: Vec<_> = answer.text().lines().collect();
        let count = |change: &str| lines.iter().filter(|line| line.starts_with(change)).count();
        let (published, removed) = (count("published skill://"), count("removed skill://"));
        let unchanged = entries(files).len().abs_diff(published);
        assert_eq!(lines.last(), Some(&&*format!("{published} published, {unchanged} unchanged, {removed} removed")));
        (published, unchanged, removed)
    }

    pub(super) fn refuses(&self, set: &str, entries: &[Value], words: &str) {
        let before = self.tables();
        let answer = self.publish_entries(set, entries);
        assert!(answer.is_error() && answer.text().contains(words), "{words}: {answer:?}");
        assert_eq!(self.tables(), before, "{words}");
    }

    /// Returns all rows of all tables of skills.
    pub(super) fn tables(&self) -> [Vec<String>; 3] {
        [
            "digest || length(bytes) AS a FROM skill_files",
            "uri || entry || set_name AS a FROM skills",
            "uri || skill || parent || ifnull(digest || size || mime, '') AS a FROM skill_paths",
        ]
        .map(|select| {
            testing::run(self.database.database().query(format!("SELECT {select} ORDER BY 1")).all()).expect("rows")
        })
    }

    /// Returns the entries of the published skills, page by page, without the skill that is compiled in.
    pub(super) fn listed(&self) -> Vec<Value> {
        let (mut listed, mut params) = (Vec::new(), json!({}));
        loop {
            let page = self.request("skills/list", params);
            listed.extend(page.result()["skills"].as_array().expect("skills").clone());
            match &page.result()["nextCursor"] {
                Value::Null => break,
                cursor => params = json!({ "cursor": cursor }),
            }
        }
        listed.retain(|entry| !entry["uri"].as_str().expect("a URI").starts_with("skill://edge-mcp/"));
        listed
    }

    pub(super) fn bytes(&self, uri: &str) -> Option<Vec<u8>> {
        let answer = testing::run(Client::new(&self.endpoint()).read(uri));
        if answer.error().is_some() {
            return None;
        }
        let contents = &answer.result()["contents"][0];
        assert_eq!(contents["uri"], uri);
        match (&contents["text"], &contents["blob"]) {
            (Value::String(text), Value::Null) => Some(text.clone().into_bytes()),
            (Value::Null, Value::String(blob)) => ResourceContents::blob_base64("", blob).expect("base64").bytes(),
            _ => panic!("{contents}"),
        }
    }

    /// Returns the URIs in a folder, page by page.
    pub(super) fn directory(&self, uri: &str) -> Option<Vec<(String, bool)>> {
        let answer = self.request("resources/directory/read", json!({ "uri": uri }));
        if let Some((code, _)) = answer.error() {
            assert_eq!(code, -32602);
            return None;
        }
        assert_eq!(answer.result()["nextCursor"], Value::Null);
        let child =
            |child: &Value| (child["uri"].as_str().expect("a URI").to_owned(), child["mimeType"] == "inode/directory");
        Some(answer.result()["resources"].as_array().expect("a list").iter().map(child).collect())
    }

    /// Compares all that clients can read with a folder.
    pub(super) fn has_exactly(&self, files: &Folder) {
        let expected = entries(files);
        assert_eq!(self.listed(), expected);
        for entry in &expected {
            assert_eq!(self.request("skills/get", json!({ "uri": entry["uri"] })).result()["skill"], *entry);
        }
        let roots: Vec<_> = files.keys().filter_map(|path| path.strip_suffix("/SKILL.md")).collect();
        let served = |path: &str| roots.iter().any(|root| path.starts_with(&format!("{root}/")));
        let mut folders: BTreeMap<String, BTreeSet<(String, bool)>> = BTreeMap::new();
        for (path, bytes) in files.iter().filter(|(path, _)| served(path)) {
            let uri = format!("skill://{path}");
            assert_eq!(self.bytes(&uri).as_ref(), Some(bytes), "{uri}");
            let (mut child, mut is_folder) = (path.as_str(), false);
            while let Some((parent, _)) = child.rsplit_once('/') {
                if roots.iter().any(|root| parent == *root || parent.starts_with(&format!("{root}/"))) {
                    folders
                        .entry(format!("skill://{parent}"))
                        .or_default()
                        .insert((format!("skill://{child}"), is_folder));
                }
                (child, is_folder) = (parent, true);
            }
        }
        for (folder, children) in &folders {
            assert_eq!(self.directory(folder), Some(children.iter().cloned().collect()), "{folder}");
        }
        let stored: BTreeSet<_> =
            files.iter().filter(|(path, _)| served(path)).map(|(_, bytes)| digest(bytes)).collect();
        let digests = self.database.database().query("SELECT digest FROM skill_files").all::<String>();
        assert_eq!(
            testing::run(digests).expect("rows").into_iter().collect::<BTreeSet<_>>(),
            stored,
            "other files are deleted"
        );
    }
}

pub(super) fn refunds() -> Folder {
    folder([
        ("orders/refunds/SKILL.md", b"---\r\nname: refunds\r\n---\r\n".as_slice()),
        ("orders/refunds/a%20b.txt", b""),
        ("orders/refunds/deep/er/nul.md", b"\xef\xbb\xbfa\0b"),
        ("orders/refunds/nested/inner/SKILL.md", b"---\nname: inner\n---\n"),
        ("orders/refunds/nested/inner/x", b"\xff\xfe"),
        ("orders/cancel/SKILL.md", b"---\nname: cancel\n---\n"),
    ])
}

/// S8, S14, S16, S17, S18, S23, S27: clients read what was published, byte for byte. Another publication replaces the whole set, and deletes
/// the files that no set has.
#[test]
fn a_set_is_published_read_and_replaced() {
    let base = Base::new();
    let mut files = refunds();
    assert_eq!(base.publish("orders", &files), (3, 0, 0));
    base.has_exactly(&files);
    assert_eq!(base.publish("orders", &files), (0, 3, 0));
    base.has_exactly(&files);
    let listed = base.request("resources/list", json!({}));
    let resources = listed.result()["resources"].as_array().expect("resources");
    let names: Vec<_> = resources.iter().map(|resource| resource["name"].as_str().expect("a name")).collect();
    // The first one is the page of the search.
    assert_eq!(names, ["ui://knowledge-base/search-1", "write-an-mcp-server", "cancel", "refunds", "inner"]);
    let read = testing::run(Client::new(&base.endpoint()).read("skill://orders/refunds/a%20b.txt"));
    assert_eq!(read.result()["contents"][0]["mimeType"], "text/plain");
    // A change in the inner skill changes the outer one too.
    files.insert("orders/refunds/nested/inner/x".into(), b"new".to_vec());
    files.remove("orders/cancel/SKILL.md");
    assert_eq!(base.publish("orders", &files), (2, 0, 1));
    base.has_exactly(&files);
    assert_eq!(base.publish("orders", &Folder::new()), (0, 0, 2));
    base.has_exactly(&Folder::new());
}

/// Random trees, which replace one another, against the folder itself as the model.
#[test]
fn random_trees_are_served_as_they_are() {
    let base = Base::new();
    let mut state: u32 = 7;
    let mut random = move |most: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % most
    };
    for _ in 0..25 {
        let mut files = Folder::new();
        for _ in 0..random(30) {
            let depth = 1 + random(4);
            let folders: Vec<_> = (0..depth).map(|_| ["a", "b", "c-1"][random(3) as usize]).collect();
            let name = ["SKILL.md", "x.txt", "e%CC%81", "%C3%A9", "A", "a%20b", "a%2541"][random(7) as usize];
            let bytes: Vec<_> = (0..random(4)).map(|_| [b'a', 0, 0xff, b'\r', b'\n'][random(5) as usize]).collect();
            files.insert(format!("{}/{name}", folders.join("/")), bytes);
        }
        // A path is a file or a folder.
        let paths: Vec<_> = files.keys().cloned().collect();
        files.retain(|path, _| !paths.iter().any(|other| other.starts_with(&format!("{path}/"))));
        // A file that no skill has is not published.
        let roots: Vec<_> = files.keys().filter_map(|path| path.strip_suffix("SKILL.md").map(str::to_owned)).collect();
        files.retain(|path, _| roots.iter().any(|root| path.starts_with(root)));
        base.publish("random", &files);
        base.has_exactly(&files);
    }
}

/// S11: pages end at whole entries, also if the set is replaced between two pages: none is repeated or skipped.
#[test]
fn lists_and_folders_have_pages() {
    let base = Base::new();
    let numbered = |range: std::ops::Range<u32>| -> Folder {
        range.map(|nth| (format!("s{nth:03}/SKILL.md"), nth.to_string().into_bytes())).collect()
    };
    let mut files = numbered(0..120);
    base.publish("many", &files);
    base.has_exactly(&files);
    let first = base.request("skills/list", json!({}));
    assert_eq!(first.result()["skills"].as_array().map(Vec::len), Some(50));
    files.remove("s010/SKILL.md");
    files.insert("s011-b/SKILL.md".into(), b"new".to_vec());
    base.publish("many", &files);
    let second = base.request("skills/list", json!({ "cursor": first.result()["nextCursor"] }));
    let next = |page: &Answer, nth: usize| page.result()["skills"][nth]["uri"].clone();
    assert_eq!((next(&first, 49), next(&second, 0)), (json!("skill://s048/SKILL.md"), json!("skill://s049/SKILL.md")));
    let wide: Folder = (0..300)
        .map(|nth| (format!("wide/f{nth:03}/x.txt"), b"x".to_vec()))
        .chain([("wide/SKILL.md".to_owned(), b"x".to_vec())])
        .collect();
    base.publish("many", &wide);
    base.has_exactly(&wide);
}

/// A page of the largest entries is within the limit of the rows of a statement.
#[test]
fn a_page_of_the_largest_entries_can_be_read() {
    let base = Base::new();
    base.save(&folder([("a/SKILL.md", b"1".as_slice())]));
    let mut entry = entries(&folder([("a/SKILL.md", b"1".as_slice())])).remove(0);
    let bytes = |entry: &Value| json!(entry.to_string()).to_string().len() - 2;
    // A quote has two bytes in the entry, and four in the rows.
    entry["frontmatter"]["metadata"] = json!({ "quotes": "\"".repeat(60_000), "more": "" });
    let more = 300_000 - bytes(&entry);
    entry["frontmatter"]["metadata"]["more"] = json!("x".repeat(more + 1));
    base.refuses("s", &[entry.clone()], "has 300001 bytes");
    entry["frontmatter"]["metadata"]["more"] = json!("x".repeat(more));
    assert!(!base.publish_entries("s", &[entry.clone()]).is_error());
    let copy = "INSERT INTO skills (uri, entry, set_name) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 60) \
                SELECT 'skill://a' || i || '/SKILL.md', entry, 's' FROM skills, n";
    testing::run(base.database.database().query(copy).run()).expect("copies");
    // The database returns one entry more than a page can have. The page has fewer, because they are large.
    let page = base.request("skills/list", json!({}));
    let skills = page.result()["skills"].as_array().expect("skills");
    assert!(skills.iter().all(|skill| *skill == entry) && page.result()["nextCursor"].is_string());
}

/// S27, extension case 14: between a list and a read, the set is replaced. The client gets the bytes of the digest that the server publishes
/// at this time. Bytes that do not fit it are an error, and the log has the cause.
#[test]
fn a_read_never_gets_new_bytes_under_an_old_digest() {
    let base = Base::new();
    let version = |text: &str| folder([("a/SKILL.md", text.as_bytes())]);
    base.publish("s", &version("old"));
    let listed = base.listed();
    base.publish("s", &version("new"));
    let published = base.request("skills/get", json!({ "uri": listed[0]["uri"] }));
    let read = base.bytes("skill://a/SKILL.md").expect("bytes");
    assert_eq!(published.result()["skill"]["resources"][0]["digest"], digest(&read));
    assert_ne!(listed[0]["resources"][0]["digest"], digest(&read), "the client sees that its entry is old");
    let swap = "UPDATE skill_files SET bytes = CAST('odd' AS BLOB)";
    testing::run(base.database.database().query(swap).run()).expect("an update");
    for revision in Revision::ALL {
        let host = TestHost::new();
        let endpoint = base.endpoint();
        let read = testing::run(Client::new(&endpoint).revision(revision).host(&host).read("skill://a/SKILL.md"));
        assert_eq!(read.error().map(|(code, _)| code), Some(-32603), "{read:?}");
        assert!(
            host.log_text().contains("do not fit its digest") && !format!("{read:?}").contains("odd"),
            "{}",
            host.log_text()
        );
    }
}

/// S12, S14, S25, extension case 13: what is not exactly the URI of a skill or a folder is unknown, always with the same text.
#[test]
fn other_uris_are_unknown() {
    let base = Base::new();
    base.publish("orders", &refunds());
    let unknown = base.request("skills/get", json!({ "uri": "skill://none/SKILL.md" }));
    let folder = base.request("resources/directory/read", json!({ "uri": "skill://none" }));
    for uri in [
        "skill://orders/refunds/a%20b.txt",
        "skill://orders/refunds",
        "skill://orders",
        "skill://orders/refunds/./SKILL.md",
        "skill://orders/refunds/%2e/SKILL.md",
        "skill://orders/x/%2e%2e/refunds/SKILL.md",
        "skill://orders/refunds/SKILL.md#f",
        "skill://orders/refunds/SKILL.md?q",
        "skill://orders/refunds/SKILL.md/",
        "skill://orders%2Frefunds/SKILL.md",
        "skill://orders/refunds/skill.md",
        "SKILL://orders/refunds/SKILL.md",
        "skill://orders/refunds/%",
        "skill://orders/refunds'; DROP TABLE skills; --",
    ] {
        let get = base.request("skills/get", json!({ "uri": uri }));
        assert_eq!((get.error(), get.status()), (unknown.error(), 200), "{uri}");
    }
    for uri in [
        "skill://orders",
        "skill://orders/refunds/",
        "skill://orders/refunds/SKILL.md",
        "skill://orders/refund",
        "skill:/",
        "",
    ] {
        let read = base.request("resources/directory/read", json!({ "uri": uri }));
        assert_eq!(read.error(), folder.error(), "{uri}");
    }
    let other_spelling = base.request("skills/get", json!({ "uri": "skill://orders/refunds/%53KILL.md" }));
    assert_eq!(other_spelling.result()["skill"]["uri"], "skill://orders/refunds/SKILL.md");
}

/// Each request of a client is one request to the database. The skill that is compiled in needs none.
#[test]
fn a_request_is_one_query() {
    let base = Base::new();
    base.publish("orders", &refunds());
    for (method, params, requests) in [
        ("skills/list", json!({}), 1),
        ("skills/get", json!({ "uri": "skill://orders/refunds/SKILL.md" }), 1),
        ("skills/get", json!({ "uri": "skill://edge-mcp/write-an-mcp-server/SKILL.md" }), 0),
        ("resources/read", json!({ "uri": "skill://orders/refunds/a%20b.txt" }), 1),
        ("resources/read", json!({ "uri": "skill://edge-mcp/write-an-mcp-server/SKILL.md" }), 0),
        ("resources/directory/read", json!({ "uri": "skill://orders/refunds" }), 1),
    ] {
        for remaining in 0..=requests {
            base.database.fail_after(remaining);
            let answer = base.request(method, params.clone());
            assert_eq!(
                answer.error().map(|(code, _)| code),
                (remaining < requests).then_some(-32603),
                "{method} {params}"
            );
        }
        base.database.recover();
    }
}
