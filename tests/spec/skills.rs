//! Skills: folders of instructions for a model.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::rc::Rc;

use edge_mcp::cache::{CacheHint, Cacheable};
use edge_mcp::protocol::Revision;
use edge_mcp::skills::{Catalog, File, Skill, SkillChild, SkillEntry, SkillFile, SkillFuture, SkillStore};
use edge_mcp::testing::{self, Answer, Client, TestHost};
use edge_mcp::{Context, Endpoint, McpServer, McpServerBuilder, Resource, Skills, StaticTokens};
use futures::FutureExt;
use futures::future::ready;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const EXTENSION: &str = "io.modelcontextprotocol/skills";

fn leaked<T: ?Sized>(value: impl Into<Box<T>>) -> &'static T {
    Box::leak(value.into())
}

pub(super) fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("a text");
    }
    text
}

/// A folder of files below `skill://`, with their bytes.
pub(super) type Folder = Vec<(String, Vec<u8>)>;

pub(super) fn folder(files: &[(&str, &str)]) -> Folder {
    files.iter().map(|(path, text)| (format!("skill://{path}"), text.as_bytes().to_vec())).collect()
}

fn orders() -> Folder {
    let mut files = folder(&[
        ("orders/cancel/SKILL.md", "---\nname: cancel\ndescription: Cancels.\n---\r\nAsk.\n"),
        ("orders/refunds/SKILL.md", "\u{feff}---\nname: refunds\ndescription: Refunds.\n---\nAsk.\n"),
        ("orders/refunds/a%20b.txt", ""),
        ("orders/refunds/a%2541", "extension case 16: the name is a%41"),
        ("orders/refunds/nested/inner/SKILL.md", "---\nname: inner\ndescription: Inner.\n---\n"),
        ("orders/refunds/references/FORMS.md", "# Forms\n"),
        ("orders/refunds/zero.txt", "a\0b"),
    ]);
    files.insert(4, ("skill://orders/refunds/pic.png".to_owned(), vec![0x89, b'P', 0xff, 0]));
    files
}

fn roots(files: &Folder) -> Vec<String> {
    files.iter().filter_map(|(uri, _)| Some(uri.strip_suffix("/SKILL.md")?.to_owned())).collect()
}

/// Returns the entry of the skill in `root`, with its files in the order of their URIs.
pub(super) fn entry(files: &Folder, root: &str) -> String {
    let name = root.rsplit('/').next().expect("a name");
    let mut inside: Vec<_> = files.iter().filter(|(uri, _)| uri.starts_with(&format!("{root}/"))).collect();
    inside.sort();
    let resource =
        |(uri, bytes): &&(String, Vec<u8>)| json!({ "uri": uri, "digest": digest(bytes), "size": bytes.len() });
    let resources: Vec<_> = inside.iter().map(resource).collect();
    let frontmatter = json!({ "name": name, "description": format!("About {name}.") });
    json!({ "uri": format!("{root}/SKILL.md"), "frontmatter": frontmatter, "resources": resources }).to_string()
}

fn catalog(files: &Folder) -> &'static Catalog {
    let roots = roots(files);
    let innermost =
        |uri: &str| roots.iter().filter(|root| uri.starts_with(&format!("{root}/"))).max_by_key(|root| root.len());
    let mut skills = Vec::new();
    for root in &roots {
        let mut own = Vec::new();
        for (uri, bytes) in files.iter().filter(|(uri, _)| innermost(uri) == Some(root)) {
            let mime_type = if uri.contains(".md") { "text/markdown" } else { "application/octet-stream" };
            let uri = leaked::<str>(uri.as_str());
            own.push(match std::str::from_utf8(bytes) {
                Ok(text) => File::text(uri, mime_type, leaked::<str>(text)),
                Err(_) => File::bytes(uri, mime_type, leaked::<[u8]>(bytes.as_slice())),
            });
        }
        skills.push(Skill::new(leaked::<str>(root.as_str()), leaked::<str>(entry(files, root)), leaked::<[File]>(own)));
    }
    leaked::<Catalog>(Catalog::new(leaked::<[Skill]>(skills)))
}

fn builder() -> McpServerBuilder {
    McpServer::builder("orders", "1.0.0")
}

fn endpoint(build: impl Fn() -> McpServerBuilder + 'static) -> Endpoint {
    testing::endpoint(move |_| build().build())
}

fn served() -> Endpoint {
    let catalog = catalog(&orders());
    endpoint(move || builder().skills(Skills::embedded(catalog)))
}

fn request(client: &Client<'_>, method: &str, params: Value) -> Answer {
    testing::run(client.request(method, params))
}

fn uris(answer: &Answer, list: &str) -> Vec<String> {
    let items = answer.result()[list].as_array().unwrap_or_else(|| panic!("no list: {answer:?}"));
    items.iter().map(|item| item["uri"].as_str().expect("a URI").to_owned()).collect()
}

/// S1, S2, S7, S12, S13, S14, S16: the wire in all revisions.
#[test]
fn skills_are_served_in_all_revisions() {
    let endpoint = served();
    let files = orders();
    for revision in Revision::ALL {
        let client = Client::new(&endpoint).revision(revision);
        let is_modern = revision == Revision::V2026_07_28;
        let hints = |answer: &Answer| (answer.result()["ttlMs"].clone(), answer.result()["cacheScope"].clone());
        let expected = if is_modern { (json!(0), json!("private")) } else { (Value::Null, Value::Null) };
        let list = request(&client, "skills/list", json!({}));
        let entries: Vec<Value> =
            roots(&files).iter().map(|root| serde_json::from_str(&entry(&files, root)).expect("JSON")).collect();
        let mut sorted = entries.clone();
        sorted.sort_by_key(|entry| entry["uri"].as_str().map(str::to_owned));
        assert_eq!((&list.result()["skills"], hints(&list)), (&json!(sorted), expected.clone()), "{revision}");
        for entry in entries {
            let get = request(&client, "skills/get", json!({ "uri": entry["uri"] }));
            assert_eq!((&get.result()["skill"], hints(&get)), (&entry, expected.clone()), "{revision}");
        }
        let children = request(&client, "resources/directory/read", json!({ "uri": "skill://orders/refunds" }));
        assert_eq!(hints(&children), expected, "{revision}");
        let expected: Vec<Value> = [
            ("SKILL.md", Some(("text/markdown", 52))),
            ("a%20b.txt", Some(("application/octet-stream", 0))),
            ("a%2541", Some(("application/octet-stream", 35))),
            ("nested", None),
            ("pic.png", Some(("application/octet-stream", 4))),
            ("references", None),
            ("zero.txt", Some(("application/octet-stream", 3))),
        ]
        .into_iter()
        .map(|(name, file)| {
            let uri = format!("skill://orders/refunds/{name}");
            let name = name.replace("%20", " ").replace("%25", "%");
            match file {
                Some((mime_type, size)) => json!({ "uri": uri, "name": name, "mimeType": mime_type, "size": size }),
                None => json!({ "uri": uri, "name": name, "mimeType": "inode/directory" }),
            }
        })
        .collect();
        assert_eq!(children.result()["resources"], json!(expected), "{revision}");
        let resources = request(&client, "resources/list", json!({}));
        assert_eq!(uris(&resources, "resources"), uris(&list, "skills"), "{revision}");
        let refunds = &resources.result()["resources"][1];
        let name = refunds["name"].as_str().map(str::to_owned);
        assert_eq!((name.as_deref(), &refunds["description"]), (Some("refunds"), &json!("About refunds.")));
        assert_eq!((&refunds["mimeType"], &refunds["size"]), (&json!("text/markdown"), &json!(52)));
    }
}

/// S1, E4: the extension and resources are declared in both eras, with skills alone.
#[test]
fn skills_declare_the_extension() {
    let endpoint = served();
    for (revision, method) in [(Revision::V2026_07_28, "server/discover"), (Revision::V2024_11_05, "initialize")] {
        let client = json!({ "name": "c", "version": "1" });
        let params = json!({ "protocolVersion": revision.name(), "capabilities": {}, "clientInfo": client });
        let answer = request(&Client::new(&endpoint).revision(revision), method, params);
        let capabilities = &answer.result()["capabilities"];
        assert_eq!(capabilities["extensions"], json!({ EXTENSION: { "directoryRead": true } }), "{method}");
        assert_eq!((&capabilities["resources"], &capabilities["tools"]), (&json!({}), &Value::Null), "{method}");
    }
    let without = endpoint_without_skills();
    for (method, params) in [("skills/list", json!({})), ("skills/get", json!({ "uri": "skill://a/SKILL.md" }))] {
        assert_eq!(request(&Client::new(&without), method, params).error().map(|(code, _)| code), Some(-32601));
    }
}

fn endpoint_without_skills() -> Endpoint {
    endpoint(|| builder().resource(Resource::new("a://b", || async { "text" })))
}

/// S17, S18: text files are sent as text and others as bytes, unchanged: a carriage return, a byte order mark and an empty file.
#[test]
fn the_bytes_of_files_are_unchanged() {
    let endpoint = served();
    for (uri, bytes) in orders() {
        let answer = testing::run(Client::new(&endpoint).read(&uri));
        let contents = &answer.result()["contents"][0];
        assert_eq!((&contents["uri"], answer.result()["contents"].as_array().map(Vec::len)), (&json!(uri), Some(1)));
        let is_text = std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
        let sent = match contents["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => decoded(contents["blob"].as_str().expect("a blob")),
        };
        assert_eq!((sent, contents["text"].is_string()), (bytes, is_text), "{uri}");
    }
}

fn decoded(base64: &str) -> Vec<u8> {
    edge_mcp::ResourceContents::blob_base64("a://b", base64).ok().and_then(|contents| contents.bytes()).expect("base64")
}

/// S12, S14, S25, extension case 13: what is not exactly the URI of a skill or folder is unknown, always with the same text.
#[test]
fn unknown_uris_are_invalid_parameters() {
    let endpoint = served();
    for revision in Revision::ALL {
        let client = Client::new(&endpoint).revision(revision);
        for uri in [
            "skill://orders/refunds/references/FORMS.md",
            "skill://orders/refunds",
            "skill://orders/refunds/./SKILL.md",
            "skill://orders/refunds/%2e%2e/refunds/SKILL.md",
            "skill://orders%2Frefunds/SKILL.md",
            "skill://orders/refunds/SKILL.md#f",
            "skill://orders/refunds/SKILL.md?q",
            "skill://orders/refunds/SKILL.md/",
            "SKILL://orders/refunds/SKILL.md",
            "skill://orders/Refunds/SKILL.md",
            "",
        ] {
            let answer = request(&client, "skills/get", json!({ "uri": uri }));
            let expected = (-32602, "There is no such skill. Call skills/list for the available skills.");
            assert_eq!((answer.error(), answer.status()), (Some(expected), 200), "{revision} {uri}");
        }
        for uri in [
            "skill://orders",
            "skill://orders/refunds/",
            "skill://orders/refunds/SKILL.md",
            "skill://orders/refunds/none",
            "skill://orders/refund",
            "skill:/",
        ] {
            let answer = request(&client, "resources/directory/read", json!({ "uri": uri }));
            let expected = (-32602, "There is no such folder of a skill. Call skills/get for the files of a skill.");
            assert_eq!(answer.error(), Some(expected), "{revision} {uri}");
        }
        let expected = if revision == Revision::V2026_07_28 { -32602 } else { -32002 };
        let answer = testing::run(client.read("skill://orders/refunds/none"));
        assert_eq!(answer.error().map(|(code, _)| code), Some(expected), "{revision}");
        let get = request(&client, "skills/get", json!({ "uri": "skill://orders/refunds/%53KILL.md" }));
        assert_eq!(get.result()["skill"]["uri"], "skill://orders/refunds/SKILL.md", "another spelling of the same URI");
    }
}

/// S11: pages have whole entries in the order of URIs: `page_size` of them, or 1 MiB, but at least one.
#[test]
fn pages_have_whole_entries() {
    let large = |name: &str| {
        let mut files = folder(&[(&*format!("{name}/SKILL.md"), "text")]);
        files.extend((0..4000).map(|nth| (format!("skill://{name}/{nth:04}{}", "x".repeat(200)), Vec::new())));
        files
    };
    let many: Folder = (0..120).flat_map(|nth| folder(&[(&*format!("skill-{nth:03}/SKILL.md"), "text")])).collect();
    for (files, size, expected) in [
        (many.clone(), None, vec![50, 50, 20]),
        (many.clone(), Some(7), vec![7; 17].into_iter().chain([1]).collect()),
        (many, Some(1000), vec![50, 50, 20]),
        ([large("a"), large("b"), large("c")].concat(), None, vec![1, 1, 1]),
    ] {
        let catalog = catalog(&files);
        let endpoint = endpoint(move || {
            let builder = builder().skills(Skills::embedded(catalog));
            size.and_then(std::num::NonZeroUsize::new)
                .map_or(builder, |size| McpServer::builder("o", "1").page_size(size).skills(Skills::embedded(catalog)))
        });
        let client = Client::new(&endpoint);
        let (mut pages, mut found, mut cursor) = (Vec::new(), Vec::new(), json!({}));
        loop {
            let page = request(&client, "skills/list", cursor);
            pages.push(uris(&page, "skills").len());
            found.extend(uris(&page, "skills"));
            match page.result()["nextCursor"].as_str() {
                Some(next) => cursor = json!({ "cursor": next }),
                None => break,
            }
        }
        assert_eq!(pages, expected);
        let expected: Vec<_> = roots(&files).iter().map(|root| format!("{root}/SKILL.md")).collect();
        assert_eq!(found, expected);
    }
}

/// S11, S14: a cursor of another list, or a damaged one, is rejected. Folders have pages too.
#[test]
fn cursors_belong_to_their_list() {
    let catalog = catalog(&orders());
    let endpoint = endpoint(move || {
        let size = std::num::NonZeroUsize::MIN;
        builder().page_size(size).skills(Skills::embedded(catalog))
    });
    let client = Client::new(&endpoint);
    let next = |answer: &Answer| answer.result()["nextCursor"].as_str().expect("a cursor").to_owned();
    let list = next(&request(&client, "skills/list", json!({})));
    let read =
        |uri: &str, cursor: &str| request(&client, "resources/directory/read", json!({ "uri": uri, "cursor": cursor }));
    let folder = next(&request(&client, "resources/directory/read", json!({ "uri": "skill://orders/refunds" })));
    assert_eq!(uris(&read("skill://orders/refunds", &folder), "resources"), ["skill://orders/refunds/a%20b.txt"]);
    for answer in [
        read("skill://orders/refunds", &list),
        read("skill://orders/cancel", &folder),
        request(&client, "skills/list", json!({ "cursor": folder })),
        request(&client, "skills/list", json!({ "cursor": "x" })),
        request(&client, "skills/list", json!({ "cursor": format!("{list}AA") })),
    ] {
        assert_eq!(answer.error().map(|(code, _)| code), Some(-32602), "{answer:?}");
    }
}

/// A store whose skills can change, with a scope for each skill.
#[derive(Clone, Default)]
struct Store {
    files: Rc<RefCell<Folder>>,
    /// The digests that the store publishes, if they differ from those of the files.
    published: Rc<RefCell<Option<Folder>>>,
    /// The scope of the skills, except for those whose name begins with `open`.
    scope: Option<&'static str>,
    reads: Rc<Cell<usize>>,
}

impl Store {
    fn entry(&self, root: &str) -> SkillEntry {
        let files = self.published.borrow().clone().unwrap_or_else(|| self.files.borrow().clone());
        SkillEntry { uri: format!("{root}/SKILL.md"), json: entry(&files, root).into(), scopes: self.scopes(root) }
    }

    fn scopes(&self, uri: &str) -> Vec<Cow<'static, str>> {
        self.scope.filter(|_| !uri.starts_with("skill://open")).into_iter().map(Into::into).collect()
    }
}

impl SkillStore for Store {
    fn list(&self, after: Option<String>, limit: usize, _: &Context) -> SkillFuture<Vec<SkillEntry>> {
        let mut roots = roots(&self.files.borrow());
        roots.sort();
        let entries = roots.iter().map(|root| self.entry(root)).filter(|entry| Some(&entry.uri) > after.as_ref());
        ready(Ok(entries.take(limit).collect())).boxed_local()
    }

    fn get(&self, uri: String, _: &Context) -> SkillFuture<Option<SkillEntry>> {
        let root = roots(&self.files.borrow()).into_iter().find(|root| uri == format!("{root}/SKILL.md"));
        ready(Ok(root.map(|root| self.entry(&root)))).boxed_local()
    }

    fn read(&self, uri: String, _: &Context) -> SkillFuture<Option<SkillFile>> {
        self.reads.set(self.reads.get() + 1);
        let files = self.files.borrow();
        let file = files.iter().find(|(known, _)| *known == uri).map(|(_, bytes)| bytes.clone());
        let published = self.published.borrow();
        let digested = published.as_ref().and_then(|files| files.iter().find(|(known, _)| *known == uri));
        let digest = digested.map(|(_, bytes)| digest(bytes));
        let scopes = self.scopes(&uri);
        let file = file.map(|bytes| SkillFile { uri, mime_type: "text/plain".into(), digest, bytes, scopes });
        ready(Ok(file)).boxed_local()
    }

    fn directory(&self, uri: String, _: Option<String>, _: usize, _: &Context) -> SkillFuture<Option<Vec<SkillChild>>> {
        let child = SkillChild {
            uri: format!("{uri}/SKILL.md"),
            name: "SKILL.md".into(),
            mime_type: None,
            size: None,
            scopes: self.scopes(&uri),
        };
        ready(Ok(roots(&self.files.borrow()).contains(&uri).then(|| vec![child]))).boxed_local()
    }
}

/// S27, extension case 14: bytes that do not fit the published digest are an error. The caller gets none of them.
#[test]
fn a_file_that_does_not_fit_its_digest_is_not_sent() {
    let store = Store::default();
    store.files.replace(folder(&[("refunds/SKILL.md", "new text")]));
    store.published.replace(Some(folder(&[("refunds/SKILL.md", "old text")])));
    let served = store.clone();
    let endpoint = endpoint(move || builder().skills(Skills::new(served.clone())));
    for revision in Revision::ALL {
        let host = TestHost::new();
        let read = testing::run(Client::new(&endpoint).revision(revision).host(&host).read("skill://refunds/SKILL.md"));
        let expected = (-32603, "This file cannot be read now. Call skills/get for the files of the skill.");
        assert_eq!(read.error(), Some(expected), "{revision}");
        assert!(host.log_text().contains("do not fit its digest") && !host.log_text().contains("new text"));
    }
    store.published.replace(None);
    assert_eq!(
        testing::run(Client::new(&endpoint).read("skill://refunds/SKILL.md")).result()["contents"][0]["text"],
        "new text"
    );
}

type Build = Box<dyn Fn() -> McpServerBuilder>;

/// S26, E4: access rules hold for the entry, the files and the folders of a skill alike. For other callers, the skill does not exist, and
/// the answers are private.
#[test]
fn access_is_per_skill() {
    let tokens = r#"[{"token": "ada", "subject": "ada", "scopes": ["support"]}, {"token": "bob", "subject": "bob", "scopes": []}]"#;
    let embedded = catalog(&folder(&[("refunds/SKILL.md", "text")]));
    let store = Store { scope: Some("support"), ..Store::default() };
    store.files.replace(folder(&[("refunds/SKILL.md", "text")]));
    let by_caller = |request: &edge_mcp::RequestInfo| request.caller().is_some_and(|caller| caller.subject == "ada");
    let builds: [Build; 3] = [
        Box::new(move || builder().skills(Skills::embedded(embedded).scopes(["support"]))),
        Box::new(move || builder().skills(Skills::embedded(embedded).visible_if(by_caller))),
        Box::new(move || builder().skills(Skills::new(store.clone()))),
    ];
    for build in builds {
        let hint = CacheHint::public(std::time::Duration::from_mins(1));
        let kinds = [Cacheable::Skills, Cacheable::Skill, Cacheable::Directory];
        let endpoint = endpoint(move || kinds.into_iter().fold(build(), |builder, kind| builder.cache_of(kind, hint)));
        let endpoint = endpoint.auth(StaticTokens::from_json("T", Some(tokens)).expect("tokens"));
        for (token, is_shown) in [("ada", true), ("bob", false)] {
            let client = Client::new(&endpoint).token(token);
            let expected = if is_shown { vec!["skill://refunds/SKILL.md"] } else { vec![] };
            let list = request(&client, "skills/list", json!({}));
            assert_eq!(
                (uris(&list, "skills"), &list.result()["cacheScope"]),
                (expected.iter().map(|&uri| uri.to_owned()).collect(), &json!("private"))
            );
            assert_eq!(uris(&request(&client, "resources/list", json!({})), "resources"), expected);
            let get = request(&client, "skills/get", json!({ "uri": "skill://refunds/SKILL.md" }));
            let unknown = request(&client, "skills/get", json!({ "uri": "skill://unknown/SKILL.md" }));
            let directory = request(&client, "resources/directory/read", json!({ "uri": "skill://refunds" }));
            let read = testing::run(client.read("skill://refunds/SKILL.md"));
            for answer in [&get, &directory, &read] {
                assert_eq!(answer.error().is_none(), is_shown, "{token}: {answer:?}");
            }
            assert!(is_shown || get.error() == unknown.error());
        }
    }
}

/// S26: for a caller without the scope of some skills, the pages and their cursors are those of a server that does not have these skills.
#[test]
fn a_hidden_skill_does_not_change_the_pages() {
    let tokens = r#"[{"token": "bob", "subject": "bob", "scopes": []}]"#;
    let all = ["a", "b", "open-c", "open-d", "openly", "p", "q", "r", "s"].map(|name| format!("{name}/SKILL.md"));
    let pages = |is_shown: fn(&str) -> bool| {
        let files: Vec<_> = all.iter().filter(|path| is_shown(path)).map(|path| (path.as_str(), "text")).collect();
        let store = Store { scope: Some("support"), ..Store::default() };
        store.files.replace(folder(&files));
        let endpoint = endpoint(move || {
            builder().page_size(const { std::num::NonZeroUsize::new(2).unwrap() }).skills(Skills::new(store.clone()))
        });
        let endpoint = endpoint.auth(StaticTokens::from_json("T", Some(tokens)).expect("tokens"));
        let client = Client::new(&endpoint).token("bob");
        let mut pages = Vec::new();
        let mut params = json!({});
        loop {
            let answer = request(&client, "skills/list", params);
            let cursor = answer.result().get("nextCursor").cloned();
            pages.push((uris(&answer, "skills"), cursor.clone()));
            let Some(cursor) = cursor else { break pages };
            params = json!({ "cursor": cursor });
        }
    };
    let shown = pages(|_| true);
    assert_eq!(shown, pages(|path| path.starts_with("open")));
    assert_eq!(shown.iter().map(|(uris, _)| uris.len()).collect::<Vec<_>>(), [2, 1]);
}

/// S13: the cache hints of the three methods. A catalog for all callers can be public.
#[test]
fn the_methods_have_cache_hints() {
    let catalog = catalog(&orders());
    let endpoint = endpoint(move || {
        let hint = |minutes| CacheHint::public(std::time::Duration::from_mins(minutes));
        builder()
            .skills(Skills::embedded(catalog))
            .cache_of(Cacheable::Skills, hint(1))
            .cache_of(Cacheable::Skill, hint(2))
            .cache_of(Cacheable::Directory, hint(3))
    });
    let client = Client::new(&endpoint);
    for (method, params, minutes) in [
        ("skills/list", json!({}), 1),
        ("skills/get", json!({ "uri": "skill://orders/cancel/SKILL.md" }), 2),
        ("resources/directory/read", json!({ "uri": "skill://orders/cancel" }), 3),
    ] {
        let answer = request(&client, method, params);
        assert_eq!(
            (&answer.result()["ttlMs"], &answer.result()["cacheScope"]),
            (&json!(minutes * 60_000), &json!("public"))
        );
    }
}

/// S32 of a server: a listing reads no file.
#[test]
fn lists_read_no_files() {
    let store = Store::default();
    store.files.replace(folder(&[("refunds/SKILL.md", "text")]));
    let served = store.clone();
    let endpoint = endpoint(move || builder().skills(Skills::new(served.clone())));
    let client = Client::new(&endpoint);
    for method in ["skills/list", "resources/list"] {
        request(&client, method, json!({}));
    }
    assert_eq!(store.reads.get(), 0);
}

/// Sets are merged in the order of URIs. Of two skills at one URI, the first counts. The server's own resource takes precedence.
#[test]
fn sets_of_skills_are_merged() {
    let embedded = catalog(&folder(&[("b/SKILL.md", "compiled")]));
    let store = Store::default();
    store.files.replace(folder(&[("a/SKILL.md", "stored"), ("b/SKILL.md", "stored"), ("c/SKILL.md", "stored")]));
    let endpoint = endpoint(move || {
        let own = Resource::new("skill://c/SKILL.md", || async { "own" });
        builder().skills(Skills::embedded(embedded)).skills(Skills::new(store.clone())).resource(own)
    });
    let client = Client::new(&endpoint);
    let expected = ["a", "b", "c"].map(|name| format!("skill://{name}/SKILL.md"));
    assert_eq!(uris(&request(&client, "skills/list", json!({})), "skills"), expected);
    let texts = expected.map(|uri| testing::run(client.read(&uri)).result()["contents"][0]["text"].clone());
    assert_eq!(texts, ["stored", "compiled", "own"]);
    let twice = builder()
        .skills(Skills::embedded(embedded))
        .skills(Skills::embedded(embedded))
        .build()
        .err()
        .expect("an error");
    assert!(twice.to_string().contains("skill \"skill://b/SKILL.md\" is in two catalogs"), "{twice}");
}

/// S8, extension case 18: `Catalog::check` finds files that changed without their entry. An empty file and a skill of one file pass.
#[test]
fn a_catalog_is_checked_against_its_files() {
    assert_eq!(catalog(&orders()).check(), Ok(()));
    let files = folder(&[("a/SKILL.md", "text"), ("a/b.txt", "more")]);
    let other = |files: &Folder| leaked::<str>(entry(files, "skill://a"));
    let file =
        |name: &str, text: &'static str| File::text(leaked::<str>(format!("skill://a/{name}")), "text/plain", text);
    let check = |entry: &'static str, own: Vec<File>| {
        Catalog::new(leaked::<[Skill]>(vec![Skill::new("skill://a", entry, leaked::<[File]>(own))])).check().err()
    };
    let (skill, more) = (|| file("SKILL.md", "text"), || file("b.txt", "more"));
    assert_eq!(check(other(&files), vec![skill(), more()]), None);
    for (entry, own, words) in [
        (other(&files), vec![skill(), file("b.txt", "mode")], "does not fit the file `skill://a/b.txt`"),
        (other(&files), vec![skill(), file("b.txt", "longer")], "does not fit the file"),
        (other(&files), vec![skill()], "lists 2 files, and there are 1"),
        (other(&files), vec![skill(), more(), file("c", "")], "lists 2 files, and there are 3"),
        ("{", vec![skill()], "is not JSON"),
        (leaked::<str>(entry(&folder(&[("b/SKILL.md", "text")]), "skill://b")), vec![skill()], "has another URI"),
    ] {
        let problem = check(entry, own).unwrap_or_default();
        assert!(problem.contains(words), "{words}: {problem}");
    }
    let unordered = [folder(&[("b/SKILL.md", "")]), folder(&[("a/SKILL.md", "")])].concat();
    assert!(catalog(&unordered).check().is_err_and(|problem| problem.contains("is not in the order")));
}
