//! Skills of other servers: what is requested, and what is handed out.

use std::fmt::Write;
use std::time::Duration;

use edge_mcp::agents::{ChatAgent, ChatModel};
use edge_mcp::client::{
    ClientError, Executed, Failure, InProcess, Listing, McpClient, SkillContent, SkillEntry, Unverified, Upstream,
};
use edge_mcp::protocol::Revision;
use edge_mcp::skills::{Catalog, File, Skill};
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{McpServer, Skills};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::calls::{at, client, context};
use crate::fake_model::{asked, model, text};
use crate::peer::{Answer, Peer, result};

pub const SKILL: &str = "---\nname: refunds\ndescription: Refunds an order.\nmetadata:\n  rank: \"1\"\nlist: [1, 2]\nn: 1.0\n---\nAsk first.\n";
pub const URI: &str = "skill://orders/refunds/SKILL.md";
const FORMS: &str = "skill://orders/refunds/references/FORMS.md";

pub fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("a text");
    }
    text
}

pub fn resource(uri: &str, bytes: &[u8]) -> Value {
    json!({ "uri": uri, "digest": digest(bytes), "size": bytes.len() })
}

/// The entry of the skill, with its two files.
pub fn entry() -> Value {
    let frontmatter = json!({
        "n": 1, "list": [1, 2], "metadata": { "rank": "1" }, "description": "Refunds an order.", "name": "refunds",
    });
    json!({
        "uri": URI, "frontmatter": frontmatter,
        "resources": [resource(URI, SKILL.as_bytes()), resource(FORMS, b"# Forms\n")],
    })
}

pub fn discovered(settings: Value) -> Answer {
    let extensions = json!({ "io.modelcontextprotocol/skills": settings });
    result(json!({ "resultType": "complete", "capabilities": { "resources": {}, "extensions": extensions } }))
}

pub fn page(skills: Value, members: Value) -> Answer {
    let mut page = json!({ "skills": skills, "resultType": "complete" });
    page.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    result(page)
}

fn read(contents: Value) -> Answer {
    result(json!({ "contents": contents, "resultType": "complete" }))
}

/// Runs work with a peer of a new connection.
pub fn with<T: 'static>(
    client: &McpClient,
    host: &TestHost,
    work: impl FnOnce(edge_mcp::client::Peer) -> LocalBoxFuture<'static, T>,
) -> T {
    let peer = client.connect(&context(host)).server("parcels").expect("a server");
    testing::run(host.run(work(peer))).expect("the work ends")
}

pub fn pinned(peer: &Peer) -> McpClient {
    client(at(peer).revision(Revision::V2026_07_28))
}

pub fn list(client: &McpClient) -> Result<Listing<SkillEntry>, ClientError> {
    with(client, &TestHost::new(), |peer| async move { peer.list_skills().await }.boxed_local())
}

fn read_file(client: &McpClient, entry: &SkillEntry, reference: &str) -> Result<SkillContent, ClientError> {
    let (entry, reference) = (entry.clone(), reference.to_owned());
    with(client, &TestHost::new(), |peer| async move { peer.read_skill(&entry, &reference).await }.boxed_local())
}

pub fn held(entry: &Value) -> SkillEntry {
    SkillEntry::from_json(&json!({ "server": "parcels", "skill": entry }).to_string()).expect("an entry")
}

/// Reads a file of a skill from a server that answers with these contents.
fn read_from(entry: &Value, reference: &str, contents: Value) -> Result<SkillContent, ClientError> {
    read_file(&pinned(&Peer::new([discovered(json!({})), read(contents)])), &held(entry), reference)
}

/// A server of this library with the skill, in a folder with a file that is not text.
fn served() -> Upstream {
    let leaked = |text: String| &*Box::leak(text.into_boxed_str());
    let mut all = entry();
    let more = [resource("skill://orders/refunds/a%20b.bin", &[0, 255]), resource("skill://orders/refunds/empty", b"")];
    all["resources"].as_array_mut().expect("a list").extend(more);
    let files = Box::leak(Box::new([
        File::text(URI, "text/markdown", SKILL),
        File::bytes("skill://orders/refunds/a%20b.bin", "application/octet-stream", &[0, 255]),
        File::text("skill://orders/refunds/empty", "text/plain", ""),
        File::text(FORMS, "text/markdown", "# Forms\n"),
    ]));
    let skill = Skill::new("skill://orders/refunds", leaked(all.to_string()), files);
    let catalog: &'static Catalog = Box::leak(Box::new(Catalog::new(Box::leak(Box::new([skill])))));
    let endpoint =
        testing::endpoint(move |_| McpServer::builder("orders", "1.0.0").skills(Skills::embedded(catalog)).build());
    Upstream::via("http://localhost/mcp", InProcess::new(endpoint)).expect("a URL")
}

/// S2, S30, S31: skills are listed, got and read in each revision.
#[test]
fn skills_are_read_in_each_revision() {
    let revisions = Revision::ALL.into_iter().map(Some).chain([None]);
    for revision in revisions {
        let upstream = revision.map_or_else(served, |revision| served().revision(revision));
        let client = client(upstream);
        let listing = list(&client).expect("a list");
        let [skill] = &listing.items[..] else { panic!("{listing:?}") };
        assert!(listing.left_out.is_empty() && !listing.is_truncated);
        assert_eq!((skill.server(), skill.uri(), skill.name()), ("parcels", URI, "refunds"));
        assert_eq!(skill.description(), "Refunds an order.");
        assert_eq!(skill.files().expect("files").len(), 4);
        assert_eq!(serde_json::from_str::<Value>(skill.frontmatter()).expect("JSON"), entry()["frontmatter"]);
        let got = with(&client, &TestHost::new(), |peer| async move { peer.get_skill(URI).await }.boxed_local());
        let got = got.expect("an entry");
        assert_eq!(got.raw(), skill.raw());
        for (reference, bytes) in [
            ("SKILL.md", SKILL.as_bytes()),
            ("references/FORMS.md", b"# Forms\n"),
            ("a b.bin", &[0, 255]),
            ("a%20b.bin", &[0, 255]),
            (FORMS, b"# Forms\n"),
            ("empty", b""),
        ] {
            let content = read_file(&client, &got, reference).expect(reference);
            assert_eq!((&content.bytes[..], content.text().is_some()), (bytes, !bytes.contains(&255)), "{reference}");
        }
        let directory = |uri: &'static str| {
            with(&client, &TestHost::new(), |peer| async move { peer.read_skill_directory(uri).await }.boxed_local())
        };
        let children = directory("skill://orders/refunds").expect("a folder");
        let kinds: Vec<_> = children.items.iter().map(|it| (it.name(), it.mime_type().unwrap_or_default())).collect();
        assert!(kinds.contains(&("skill://orders/refunds/references", "inode/directory".into())), "{kinds:?}");
        assert_eq!((kinds.len(), children.left_out.len()), (4, 0));
        assert!(directory("skill://orders/nothing").is_err());
    }
}

/// S30: a server that does not declare skills is not asked for them, and one without `directoryRead` is not asked for folders. The client
/// remembers a declaration for an hour.
#[test]
fn only_declared_methods_are_called() {
    for settings in [Value::Null, json!([]), json!("x"), json!(true)] {
        let peer = Peer::new([discovered(settings.clone()), discovered(settings)]);
        let client = pinned(&peer);
        let error = list(&client).expect_err("no skills");
        assert!(matches!(error.failure(), Failure::Undeclared(_)), "{error}");
        assert_eq!(error.executed(), Executed::No);
        assert_eq!(
            error.to_string(),
            "The server `parcels` does not declare skills (the extension `io.modelcontextprotocol/skills`)."
        );
        assert!(read_file(&client, &held(&entry()), "SKILL.md").is_err());
        assert_eq!(peer.methods(), ["server/discover", "server/discover"]);
    }
    for settings in [json!({}), json!({ "directoryRead": false }), json!({ "directoryRead": "true" })] {
        let peer = Peer::new([discovered(settings)]);
        let read = |peer: edge_mcp::client::Peer| async move { peer.read_skill_directory("skill://a").await };
        let error = with(&pinned(&peer), &TestHost::new(), |peer| read(peer).boxed_local()).expect_err("no folders");
        assert!(error.to_string().contains("`directoryRead`"), "{error}");
        assert_eq!(peer.methods(), ["server/discover"]);
    }
    let skills = || page(json!([entry()]), json!({}));
    let peer = Peer::new([discovered(json!({})), skills(), skills(), discovered(json!({})), skills()]);
    let (client, host) = (pinned(&peer), TestHost::new());
    for seconds in [0, 3599, 1] {
        host.advance(Duration::from_secs(seconds));
        with(&client, &host, |peer| async move { peer.list_skills().await }.boxed_local()).expect("a list");
    }
    let expected = ["server/discover", "skills/list", "skills/list", "server/discover", "skills/list"];
    assert_eq!(peer.methods(), expected);
}

/// S32: nothing is read ahead of need. Extensions methods have no `Mcp-Name`, and a read has one.
#[test]
fn listing_reads_no_file() {
    let peer = Peer::new([discovered(json!({})), page(json!([entry()]), json!({})), read(json!([]))]);
    let client = pinned(&peer);
    let skill = list(&client).expect("a list").items.remove(0);
    assert_eq!(peer.methods(), ["server/discover", "skills/list"]);
    assert!(!peer.requests()[1].headers().contains_key("mcp-name"));
    read_file(&client, &skill, "SKILL.md").expect_err("no content");
    assert_eq!(peer.methods()[2..], ["resources/read"]);
    assert_eq!(peer.requests()[2].headers()["mcp-name"], URI);
}

/// S9, S31: a file that the entry does not list is not requested. Paths do not leave the folder of the skill.
#[test]
fn a_file_that_is_not_listed_is_not_requested() {
    let peer = Peer::new([]);
    let client = pinned(&peer);
    let mut dynamic = entry();
    dynamic["resources"] = json!("dynamic");
    let dynamic = held(&dynamic);
    assert!(dynamic.files().is_none());
    let all = [
        "",
        "/",
        ".",
        "..",
        "x",
        "SKILL.md/",
        "/SKILL.md",
        "skill.md",
        "../refunds/SKILL.md",
        "%2e%2e/refunds/SKILL.md",
        "references/../../x",
        "skill://orders/refunds",
        "skill://other/refunds/SKILL.md",
        "SKILL.md?x",
        "SKILL://orders/refunds/SKILL.md",
        "skill://orders/refunds/x/../SKILL.md",
        "references%2FFORMS.md",
        "https://evil.example/SKILL.md",
    ];
    for (skill, reference) in all.map(|it| (held(&entry()), it)).into_iter().chain([(dynamic, "SKILL.md")]) {
        let error = read_file(&client, &skill, reference).expect_err(reference);
        assert_eq!(*error.failure(), Failure::Unverified(Unverified::Unlisted), "{reference}");
        assert_eq!(error.executed(), Executed::No);
    }
    // The identity of a skill is its server and its URI.
    let of_other = SkillEntry::from_json(&json!({ "server": "desk", "skill": entry() }).to_string()).expect("an entry");
    let error = read_file(&client, &of_other, "SKILL.md").expect_err("another server");
    assert!(error.to_string().contains("belongs to another server"), "{error}");
    assert!(peer.requests().is_empty());

    let forms = || json!([{ "uri": FORMS, "text": "# Forms\n" }]);
    for reference in [
        "references/FORMS.md",
        "./references/FORMS.md",
        "references/./x/../FORMS.md#top",
        "references/%46ORMS.md",
        FORMS,
    ] {
        assert!(read_from(&entry(), reference, forms()).is_ok(), "{reference}");
    }
}

/// S31, extension case 19: only content with the listed size and digest is handed out.
#[test]
fn a_file_is_verified() {
    let skill = |text: &str| json!([{ "uri": URI, "mimeType": "text/markdown", "text": text }]);
    let blob = |bytes: &str| json!([{ "uri": URI, "blob": bytes }]);
    let base64 = "LS0tCm5hbWU6IHJlZnVuZHMKZGVzY3JpcHRpb246IFJlZnVuZHMgYW4gb3JkZXIuCm1ldGFkYXRhOgogIHJhbms6ICIxIgpsaXN0OiBbMSwgMl0KbjogMS4wCi0tLQpBc2sgZmlyc3QuCg==";
    let right = || json!({ "uri": URI, "text": SKILL });
    let content = read_from(&entry(), "SKILL.md", skill(SKILL)).expect("a file");
    assert_eq!((content.uri.as_str(), content.text()), (URI, Some(SKILL)));
    assert_eq!(content.mime_type.as_deref(), Some("text/markdown"));
    assert_eq!(read_from(&entry(), "SKILL.md", blob(base64)).expect("a file").text(), Some(SKILL));
    for (contents, expected) in [
        (skill(&SKILL.replace("first", "never")), Unverified::Digest),
        (skill(&format!("{SKILL}x")), Unverified::Size),
        (skill(&format!("\u{feff}{SKILL}")), Unverified::Size),
        (skill(&SKILL.replace('\n', "\r\n")), Unverified::Size),
        (skill(""), Unverified::Size),
        (blob(""), Unverified::Size),
    ] {
        let error = read_from(&entry(), "SKILL.md", contents.clone()).expect_err("not verified");
        assert_eq!(*error.failure(), Failure::Unverified(expected), "{contents}");
        assert_eq!(error.executed(), Executed::Yes);
        assert!(!error.to_string().contains("Ask"), "the content is not handed out: {error}");
    }
    for contents in [
        json!([]),
        json!([right(), right()]),
        json!([right(), { "uri": FORMS, "text": "# Forms\n" }]),
        json!([{ "uri": FORMS, "text": SKILL }]),
        json!([{ "text": SKILL }]),
        json!([{ "uri": URI, "text": SKILL, "blob": base64 }]),
        json!([{ "uri": URI }]),
        json!(right()),
        blob("no base64"),
        blob(base64.trim_end_matches('=')),
    ] {
        let error = read_from(&entry(), "SKILL.md", contents.clone()).expect_err("not valid");
        assert!(matches!(error.failure(), Failure::Malformed(_)), "{contents}: {error}");
    }
    // A byte order mark is a part of another file.
    let mut marked = entry();
    marked["resources"][1] = resource(FORMS, "\u{feff}x".as_bytes());
    let forms = |text: &str| json!([{ "uri": FORMS, "text": text }]);
    assert!(read_from(&marked, FORMS, forms("\u{feff}x")).is_ok());
    assert!(read_from(&marked, FORMS, forms("x")).is_err());
}

/// S22, S31, extension case 19: the frontmatter of `SKILL.md` equals the one in the entry: numbers by value, objects in any order, lists in order,
/// without conversions.
#[test]
fn the_frontmatter_is_compared() {
    let compare = |yaml: &str, frontmatter: Value| {
        let text = format!("---\nname: refunds\ndescription: D\n{yaml}---\n");
        let mut entry = entry();
        entry["frontmatter"] = frontmatter;
        entry["resources"][0] = resource(URI, text.as_bytes());
        match read_from(&entry, "SKILL.md", json!([{ "uri": URI, "text": text }])) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(*error.failure(), Failure::Unverified(Unverified::Frontmatter), "{yaml}");
                false
            }
        }
    };
    for (yaml, more, expected) in [
        ("", json!({}), true),
        ("a: 1\n", json!({ "a": 1 }), true),
        ("a: 1.0\n", json!({ "a": 1 }), true),
        ("a: 1\n", json!({ "a": 1.0 }), true),
        ("a: 12e3\n", json!({ "a": 12000 }), true),
        ("a: 1\n", json!({ "a": "1" }), false),
        ("a: \"1\"\n", json!({ "a": 1 }), false),
        ("a: true\n", json!({ "a": "true" }), false),
        ("a: null\n", json!({}), false),
        ("", json!({ "a": null }), false),
        ("a: [1, 2]\n", json!({ "a": [1, 2] }), true),
        ("a: [1, 2]\n", json!({ "a": [2, 1] }), false),
        ("a: [1, 2]\n", json!({ "a": [1] }), false),
        ("a:\n  b: 1\n  c: 2\n", json!({ "a": { "c": 2, "b": 1 } }), true),
        ("a:\n  b: 1\n", json!({ "a": { "b": 1, "c": 2 } }), false),
        ("a: x\n", json!({ "a": "x " }), false),
        // The file is not compared if its frontmatter cannot be read.
        ("a: &b 1\n", json!({ "a": 1 }), false),
        ("a: 1\na: 1\n", json!({ "a": 1 }), false),
    ] {
        let mut frontmatter = json!({ "description": "D", "name": "refunds" });
        frontmatter.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        assert_eq!(compare(yaml, frontmatter), expected, "{yaml:?} and {more}");
    }
    assert!(!compare("", json!({ "description": "Other", "name": "refunds" })));
    // An inner `SKILL.md` is a file of the outer skill, and has frontmatter of its own.
    let inner = "skill://orders/refunds/inner/SKILL.md";
    let mut outer = entry();
    outer["resources"].as_array_mut().expect("a list").push(resource(inner, b"no frontmatter"));
    assert!(read_from(&outer, inner, json!([{ "uri": inner, "text": "no frontmatter" }])).is_ok());
}

pub fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut entry = entry();
    change(&mut entry);
    entry
}

/// S30: the entry of `skills/get` is that of the URI.
#[test]
fn the_entry_of_another_skill_is_refused() {
    let get = |skill: Value, uri: &'static str| {
        let answer = result(json!({ "resultType": "complete", "skill": skill }));
        let client = pinned(&Peer::new([discovered(json!({})), answer]));
        with(&client, &TestHost::new(), |peer| async move { peer.get_skill(uri).await }.boxed_local())
    };
    assert_eq!(get(entry(), URI).expect("an entry").uri(), URI);
    assert!(get(entry(), "skill://%6Frders/refunds/SKILL.md").is_ok());
    for (skill, uri) in [
        (entry(), "skill://other/SKILL.md"),
        (Value::Null, URI),
        (json!([]), URI),
        (changed(|it| it["resources"] = json!([])), URI),
    ] {
        let error = get(skill.clone(), uri).expect_err("no entry");
        assert!(matches!(error.failure(), Failure::Malformed(_)), "{skill}: {error}");
    }
}

/// S32: a stored entry is that of its server, and has all that a later read needs.
#[test]
fn entries_can_be_stored() {
    let skill = held(&entry());
    let read = SkillEntry::from_json(&skill.to_json()).expect("an entry");
    assert_eq!((read.server(), read.raw(), read.files()), (skill.server(), skill.raw(), skill.files()));
    for text in ["", "[]", "{}", r#"{"server":"parcels","skill":{}}"#, r#"{"server":7,"skill":{}}"#] {
        assert!(SkillEntry::from_json(text).is_err(), "{text}");
    }
}

/// S34: a skill is not a tool. An agent with the tools of a server gets none of its skills by itself.
#[test]
fn no_agent_is_offered_a_skill() {
    let endpoint = testing::endpoint(|_| {
        let model = ChatModel::new("http://localhost:11434/v1", "small").expect("a model");
        let tools = client(served().trusted()).read_only_tools();
        McpServer::builder("desk", "1.0.0")
            .agent(ChatAgent::new("clerk", "The clerk", "Knows.", model).source(tools))
            .build()
    });
    let host = model([text("Done.")]);
    testing::run(Client::new(&endpoint).host(&host).call("ask_clerk", json!({ "message": "?" })));
    let asked = asked(&host)[0].to_string();
    assert!(!asked.contains("refunds") && !asked.contains("skill"), "{asked}");
}
