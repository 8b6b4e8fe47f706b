//! Tests of the knowledge base with SQLite in memory, which has run the migrations.

use std::path::Path;

use edge_mcp::check::SizeLimits;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Answer, Client, TestDatabase};
use edge_mcp::{Endpoint, StaticTokens};
use edge_mcp_test_support::{fake_model, golden, network};
use serde_json::{Value, json};

use crate::document::Document;
use crate::librarian::Librarian;
use crate::search_settings::SearchSettings;
use crate::server::server;
use crate::store::Documents;

mod librarian;
mod meaning;
mod skill_tools;
mod skills;

fn endpoint(database: &TestDatabase, librarian: Option<Librarian>) -> Endpoint {
    endpoint_with(database, librarian, &SearchSettings::default())
}

fn endpoint_with(database: &TestDatabase, librarian: Option<Librarian>, settings: &SearchSettings) -> Endpoint {
    let documents = Documents::new(database.database(), settings);
    testing::endpoint(server).state(documents).state(settings.clone()).state(librarian)
}

/// Returns a database that has run the migrations.
fn migrated() -> TestDatabase {
    TestDatabase::migrated("../migrations").expect("the migrations run")
}

/// Returns a client of 2025-11-25, because revisions before 2026-07-28 have a separate error code for resources that do not exist.
fn old_client(endpoint: &Endpoint) -> Client<'_> {
    Client::new(endpoint).revision(Revision::V2025_11_25)
}

/// A change of tools/list must also change the golden file.
#[test]
fn published_tools_equal_the_golden_file() {
    let endpoint = endpoint(&TestDatabase::empty(), None);
    golden::compare_tools(&endpoint, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tools.golden.json"));
}

/// Directories and clients accept the server with all of its tools.
#[test]
fn it_can_be_published() {
    let tokens = r#"[{ "token": "of-ada", "subject": "ada", "scopes": ["kb:write"] }]"#;
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("a list");
    let librarian = librarian::configured(librarian::LOCAL).expect("a configuration");
    let endpoint = endpoint(&TestDatabase::empty(), librarian).auth(tokens);
    let check = endpoint.check(SizeLimits::default()).expect("a server");
    assert!(check.problems.is_empty(), "{check}");
}

/// The most bytes of the result of tools/list, with the librarian. A model reads them in each conversation.
const CATALOGUE: usize = 13_100;

#[test]
fn the_catalogue_is_small() {
    let librarian = librarian::configured(librarian::LOCAL).expect("a configuration");
    let endpoint = endpoint(&TestDatabase::empty(), librarian);
    for revision in [Revision::V2026_07_28, Revision::V2025_03_26] {
        let list = testing::run(Client::new(&endpoint).revision(revision).list("tools"));
        let result = list.result();
        let tools = result["tools"].as_array().expect("tools").iter();
        let sizes: Vec<_> = tools.map(|tool| format!("{} {}", tool["name"], tool.to_string().len())).collect();
        let bytes = result.to_string().len();
        println!("{revision:?}: {bytes} bytes: {}", sizes.join(", "));
        assert!(bytes <= CATALOGUE, "{revision:?}: {bytes} bytes, limit: {CATALOGUE}: {}", sizes.join(", "));
    }
}

/// The store of passages expects the tables of its crate. Further tables and triggers are in other migrations.
#[test]
fn the_tables_of_the_passages_are_those_of_the_library() {
    for (file, sql, of_library) in [
        (include_str!("../../migrations/0002_passages.sql"), edge_mcp::rag::migration("rag"), "0001_passages.sql"),
        (include_str!("../../migrations/0004_vectors.sql"), edge_mcp::rag::vector_migration("rag"), "0002_vectors.sql"),
    ] {
        assert_eq!(file, sql.expect("a prefix"), "copy src/rag/sqlite/migrations/{of_library}");
    }
}

/// Returns the code of a JSON-RPC error, or `None` for a result.
fn code(answer: &Answer) -> Option<i64> {
    answer.error().map(|(code, _)| code)
}

struct KnowledgeBase {
    database: TestDatabase,
}

impl KnowledgeBase {
    /// Returns a knowledge base with two documents.
    fn new() -> Self {
        let base = Self { database: migrated() };
        for (slug, title, text) in [
            ("deploying", "Deploying", "Run scripts/deploy."),
            ("testing", "Testing", "Run scripts/test, then deploy."),
        ] {
            let saved = base.call("save-document", json!({ "slug": slug, "title": title, "text": text }));
            assert_eq!(saved.result()["isError"], false, "{saved:?}");
        }
        base
    }

    fn request(&self, method: &str, params: Value) -> Answer {
        testing::run(old_client(&endpoint(&self.database, None)).request(method, params))
    }

    fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Returns the number of documents.
    fn count(&self) -> u64 {
        let count = self.database.database().query("SELECT count(*) FROM documents").first();
        testing::run(count).expect("a count").expect("a row")
    }

    /// Returns a knowledge base whose migrations have not been applied.
    fn not_migrated() -> Self {
        Self { database: TestDatabase::empty() }
    }

    fn text(&self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.call(tool, arguments);
        (answer.text().to_owned(), answer.result()["isError"] == true)
    }
}

#[test]
fn documents_can_be_found_read_and_replaced() {
    let base = KnowledgeBase::new();
    let found = base.call("search-documents", json!({ "query": "deploy", "limit": 1 }));
    assert_eq!(found.structured()["documents"].as_array().map(Vec::len), Some(1));
    assert_eq!(base.text("read-document", json!({ "slug": "testing" })).0, "Run scripts/test, then deploy.");
    let again = json!({ "slug": "testing", "title": "Testing", "text": "Changed." });
    for _ in 0..2 {
        let saved = base.call("save-document", again.clone());
        assert_eq!(*saved.structured(), json!({ "slug": "testing", "uri": "kb://documents/testing" }));
    }
    assert_eq!(base.text("read-document", json!({ "slug": "testing" })), ("Changed.".into(), false));
}

#[test]
fn documents_in_other_scripts_can_be_found_and_read() {
    let base = KnowledgeBase::new();
    let document = json!({ "slug": "東京タワー", "title": "東京タワー", "text": "高さは333メートルです。" });
    let uri = "kb://documents/%E6%9D%B1%E4%BA%AC%E3%82%BF%E3%83%AF%E3%83%BC";
    assert_eq!(*base.call("save-document", document).structured(), json!({ "slug": "東京タワー", "uri": uri }));
    for question in ["東京", "タワーの高さ"] {
        let found = base.call("search-documents", json!({ "query": question, "limit": 1 }));
        assert_eq!(found.structured()["documents"][0]["slug"], "東京タワー", "{question}");
        let found = base.call("search-passages", json!({ "queryText": question, "topK": 1 }));
        assert_eq!(found.structured()["sources"][0]["uri"], uri, "{question}");
    }
    assert_eq!(base.request("resources/read", json!({ "uri": uri })).text(), "高さは333メートルです。");
    // A model may copy the slug from the URI.
    for slug in ["東京タワー", uri.trim_start_matches("kb://documents/")] {
        assert_eq!(base.text("read-document", json!({ "slug": slug })).0, "高さは333メートルです。");
    }
    let reference = json!({ "type": "ref/resource", "uri": "kb://documents/{slug}" });
    let argument = json!({ "name": "slug", "value": "東" });
    let completed = base.request("completion/complete", json!({ "ref": reference, "argument": argument }));
    assert_eq!(completed.result()["completion"]["values"], json!(["東京タワー"]));
}

/// The workflow does not store any document if two documents have the same slug, one is malformed, or the store fails.
#[test]
fn ingest_stores_all_documents_or_none() {
    let base = KnowledgeBase::new();
    let document = |slug: &str| json!({ "slug": slug, "title": "T", "text": "New." });
    for (documents, expected) in [
        (json!([document("a"), document("b"), document("a")]), "Two documents have the slug `a`"),
        (json!([document("a"), document("B b")]), "a slug is made of"),
        (json!([document("a"), { "slug": "b" }]), "`documents[1].title` is required"),
        (json!([]), "at least 1"),
    ] {
        let (text, is_error) = base.text("run_ingest", json!({ "documents": documents }));
        assert!(is_error && text.contains(expected), "{text}");
        assert_eq!(base.count(), 2, "nothing is stored");
    }
    let (text, is_error) = KnowledgeBase::not_migrated().text("run_ingest", json!({ "documents": [document("a")] }));
    assert!(is_error && text.contains("migrations"), "{text}");
    let done = base.call("run_ingest", json!({ "documents": [document("a"), document("testing")] }));
    assert_eq!(
        *done.structured(),
        json!({ "documents": [
            { "slug": "a", "uri": "kb://documents/a" }, { "slug": "testing", "uri": "kb://documents/testing" },
        ] })
    );
    assert_eq!(base.count(), 3);
}

#[test]
fn documents_can_be_deleted() {
    let base = KnowledgeBase::new();
    for existed in [true, false] {
        let deleted = base.call("delete-document", json!({ "slug": "testing" }));
        assert_eq!(*deleted.structured(), json!({ "existed": existed }));
    }
    assert_eq!(base.count(), 1);
    let (text, is_error) = base.text("read-document", json!({ "slug": "testing" }));
    assert!(is_error && text.contains("no document"), "{text}");
}

/// R94: a token needs one scope to search and read, and another one to change documents.
#[test]
fn each_tool_needs_one_scope() {
    let token = |scope: &str| json!({ "token": scope, "subject": scope, "scopes": [scope] });
    let tokens = json!([token("kb:read"), token("kb:write")]).to_string();
    let tokens = StaticTokens::from_json("TOKENS", Some(&tokens)).expect("tokens");
    let endpoint = endpoint(&TestDatabase::empty(), None).auth(tokens);
    for (scope, tools) in [
        ("kb:read", &["search-passages", "related-passages", "search-documents", "read-document"][..]),
        (
            "kb:write",
            &[
                "save-document",
                "delete-document",
                "list-set",
                "run_ingest",
                "missing-skill-files",
                "save-skill-files",
                "publish-skills",
            ],
        ),
    ] {
        for caller in ["kb:read", "kb:write"] {
            for tool in tools {
                let answer = testing::run(Client::new(&endpoint).token(caller).call(tool, json!({})));
                assert_eq!(answer.status() == 403, caller != scope, "{tool} with {caller}: {}", answer.json());
            }
        }
    }
}

#[test]
fn documents_are_listed_and_read_as_resources() {
    let base = KnowledgeBase::new();
    let listed = base.request("resources/list", json!({}));
    // The page of the search is the first resource.
    assert_eq!(
        listed.result()["resources"][1],
        json!({ "uri": "kb://documents/deploying", "name": "deploying", "title": "Deploying", "mimeType": "text/markdown" })
    );
    let read = base.request("resources/read", json!({ "uri": "kb://documents/deploying" }));
    let contents =
        json!([{ "uri": "kb://documents/deploying", "mimeType": "text/markdown", "text": "Run scripts/deploy." }]);
    assert_eq!(read.result()["contents"], contents);
    for uri in ["kb://documents/none", "kb://documents/Deploying", "kb://documents/a%20b", "kb://documents/"] {
        let missing = base.request("resources/read", json!({ "uri": uri }));
        assert_eq!(
            (&missing.json()["error"]["code"], &missing.json()["error"]["data"]["uri"]),
            (&json!(-32002), &json!(uri))
        );
    }
}

#[test]
fn invalid_arguments_are_rejected() {
    let base = KnowledgeBase::new();
    let document = |slug: &str, title: &str, text: &str| json!({ "slug": slug, "title": title, "text": text });
    for (tool, arguments, expected) in [
        ("search-documents", json!({}), "`query` is required"),
        ("search-documents", json!({ "query": "" }), "`query` must have at least 1 character (got 0)"),
        ("search-documents", json!({ "query": "x".repeat(501) }), "`query` must have at most 500 characters (got 501)"),
        ("search-documents", json!({ "query": "x", "limit": 0 }), "`limit` must be at least 1 (got 0)"),
        ("search-documents", json!({ "query": "x", "limit": 51 }), "`limit` must be at most 50 (got 51)"),
        (
            "read-document",
            json!({ "slug": "No Slug" }),
            "`slug`: a slug is made of lower-case letters, digits and -, such as `getting-started`",
        ),
        ("read-document", json!({ "slug": "none" }), "There is no document `none`"),
        ("save-document", document("", "t", "x"), "`slug` must have at least 1 character (got 0)"),
        ("save-document", document("../etc", "t", "x"), "a slug is made of"),
        ("save-document", document("a", "", "x"), "`title` must have at least 1 character (got 0)"),
        ("save-document", document("a", "t", ""), "`text` must have at least 1 character (got 0)"),
        (
            "save-document",
            document("a", "t", &"x".repeat(400_001)),
            "`text` must have at most 400000 characters (got 400001)",
        ),
    ] {
        let (text, is_error) = base.text(tool, arguments);
        assert!(is_error && text.contains(expected), "{tool}: {text}");
    }
    let (text, is_error) = base.text("search-documents", json!({ "query": "é".repeat(500), "limit": 50 }));
    assert!(!is_error, "arguments at the limits are valid: {text}");
}

/// The metadata of a document can be too long although each argument is valid.
#[test]
fn a_document_that_no_store_can_save_is_a_mistake_of_the_caller() {
    let base = KnowledgeBase::new();
    let document = |title: &str, tag: &str| {
        let text = format!("---\ntags: [{}]\n---\n# T\n\nText.\n", [tag; 20].join(", "));
        json!({ "slug": "testing", "title": title, "text": text })
    };
    // JSON needs 6 bytes for a control character, and 2 for a quote.
    let (controls, quotes) = ("\u{1}".repeat(300), format!("'{}'", "\"".repeat(64)));
    for (tool, arguments) in [
        ("save-document", document(&controls, &quotes)),
        ("run_ingest", json!({ "documents": [document(&controls, &quotes)] })),
    ] {
        let (text, is_error) = base.text(tool, arguments);
        assert!(is_error && text.contains("The metadata must have at most 4096 bytes"), "{tool}: {text}");
    }
    assert_eq!(base.text("read-document", json!({ "slug": "testing" })).0, "Run scripts/test, then deploy.");
    // Tags with control characters are ignored.
    for title in ["T", &controls] {
        let (text, is_error) = base.text("save-document", document(title, &"\u{1}".repeat(64)));
        assert!(!is_error, "{text}");
    }
}

/// A list and a completion show only so many documents.
#[test]
fn lists_of_documents_are_limited() {
    let base = KnowledgeBase::new();
    let save = |numbers: std::ops::Range<u32>| {
        let document = |number| Document {
            slug: format!("many-{number:05}").try_into().expect("a slug"),
            title: "T".into(),
            text: "Text.".into(),
            set: None,
            hash: None,
        };
        let documents: Vec<_> = numbers.map(document).collect();
        let stored = Documents::new(base.database.database(), &SearchSettings::default());
        for documents in documents.chunks(500) {
            testing::run(stored.save(documents)).expect("saved");
        }
    };
    save(0..150);
    let reference = json!({ "type": "ref/resource", "uri": "kb://documents/{slug}" });
    let argument = json!({ "name": "slug", "value": "many-" });
    let completed = base.request("completion/complete", json!({ "ref": reference, "argument": argument }));
    let completion = &completed.result()["completion"];
    assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
    assert_eq!(completion["hasMore"], true);

    save(150..5001);
    let listed = base.request("resources/list", json!({}));
    // Documents, the page of the search, and the skill that is compiled in.
    assert_eq!(listed.result()["resources"].as_array().map(Vec::len), Some(5000 + 2));
}

/// A1, A2, A6, A8, A21: both tools that search show their result in one page. It has no external parts, and clients may keep it for a day.
#[test]
fn the_tools_that_search_have_a_page() {
    let base = KnowledgeBase::new();
    let endpoint = endpoint(&base.database, None);
    let tools = testing::run(Client::new(&endpoint).list("tools"));
    let tools = tools.result()["tools"].as_array().expect("tools").iter();
    let shown: Vec<_> =
        tools.filter(|tool| tool["_meta"]["ui"]["resourceUri"] == "ui://knowledge-base/search-1").collect();
    assert_eq!(shown.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["search-passages", "related-passages"]);

    let read = testing::run(Client::new(&endpoint).read("ui://knowledge-base/search-1"));
    let html = read.text();
    assert_eq!(read.result()["contents"][0]["mimeType"], "text/html;profile=mcp-app");
    assert_eq!(read.result()["contents"][0]["_meta"]["ui"], json!({ "csp": {}, "prefersBorder": true }));
    assert_eq!((&read.result()["ttlMs"], &read.result()["cacheScope"]), (&json!(86_400_000), &json!("private")));
    for external in [" src=", "@import", "url(", "import(", "innerHTML", "fetch("] {
        assert!(!html.contains(external), "{external}");
    }
    // Each part is there once, and the text of a part does not end it.
    for tag in ["<style>", "</style>", "<script", "</script>"] {
        assert_eq!(html.matches(tag).count(), 1, "{tag}");
    }
    for part in [include_str!("view/view.js"), include_str!("../../src/http/landing/passage.js")] {
        assert!(html.contains(part));
    }
}

#[test]
fn slugs_are_completed_by_prefix() {
    let base = KnowledgeBase::new();
    let complete = |value: &str| {
        let reference = json!({ "type": "ref/resource", "uri": "kb://documents/{slug}" });
        let argument = json!({ "name": "slug", "value": value });
        base.request("completion/complete", json!({ "ref": reference, "argument": argument }))
    };
    for (value, slugs) in [("", json!(["deploying", "testing"])), ("te", json!(["testing"])), ("x", json!([]))] {
        assert_eq!(complete(value).result()["completion"]["values"], slugs, "{value}");
    }
    base.database.fail_after(0);
    assert_eq!(code(&complete("")), Some(-32603));
}

#[test]
fn prompts_embed_the_matching_documents() {
    let base = KnowledgeBase::new();
    let get =
        |name: &str, arguments: Value| base.request("prompts/get", json!({ "name": name, "arguments": arguments }));
    let answer = get("answer-from-documents", json!({ "question": "deploy" }));
    let messages = answer.result()["messages"].as_array().expect("messages");
    assert_eq!(messages.len(), 3, "two documents and the question");
    assert_eq!(messages[0]["content"]["resource"]["mimeType"], "text/markdown");
    assert!(messages[2]["content"]["text"].as_str().is_some_and(|text| text.contains("deploy")));
    let nothing = get("answer-from-documents", json!({ "question": "zebra" }));
    let text = nothing.text();
    assert!(text.contains("No document") && text.contains("zebra"), "{text}");
    for (name, text) in [
        ("analyze-code", "Analyze this code with the new logic: x"),
        ("analyze-code@v1", "Analyze this code: x"),
        ("analyze-code@v2", "Analyze this code with the new logic: x"),
    ] {
        assert_eq!(get(name, json!({ "code": "x" })).text(), text, "{name}");
    }
    base.database.fail_after(0);
    assert_eq!(code(&get("answer-from-documents", json!({ "question": "x" }))), Some(-32603));
}

/// The store fails at each of its requests in turn. The caller always gets an error without the cause, the documents are unchanged, and
/// the next call succeeds.
#[test]
fn a_failing_store_leaves_no_partial_state() {
    let document = |slug: &str| json!({ "slug": slug, "title": "T", "text": "Run it." });
    let call = |name: &str, arguments: Value| ("tools/call", json!({ "name": name, "arguments": arguments }));
    let reference = json!({ "type": "ref/resource", "uri": "kb://documents/{slug}" });
    for ((method, params), requests) in [
        (call("search-documents", json!({ "query": "run" })), 1),
        (call("read-document", json!({ "slug": "testing" })), 1),
        (call("save-document", document("testing")), 1),
        (call("run_ingest", json!({ "documents": [document("a"), document("testing")] })), 1),
        (call("delete-document", json!({ "slug": "testing" })), 1),
        // The list has documents and skills.
        (("resources/list", json!({})), 2),
        (("resources/read", json!({ "uri": "kb://documents/testing" })), 1),
        (("completion/complete", json!({ "ref": reference, "argument": { "name": "slug", "value": "t" } })), 1),
        // The prompt searches once and reads the two documents that it finds.
        (("prompts/get", json!({ "name": "answer-from-documents", "arguments": { "question": "run" } })), 3),
    ] {
        for remaining in 0..=requests {
            let base = KnowledgeBase::new();
            base.database.fail_after(remaining);
            let answer = base.request(method, params.clone());
            let has_failed = code(&answer) == Some(-32603) || answer.result()["isError"] == true;
            assert_eq!(has_failed, remaining < requests, "{method} after {remaining}: {answer:?}");
            assert!(!format!("{answer:?}").contains("lets it fail"), "{answer:?}");
            base.database.recover();
            if has_failed {
                let testing = base.text("read-document", json!({ "slug": "testing" })).0;
                assert_eq!((base.count(), &*testing), (2, "Run scripts/test, then deploy."), "{method}");
            }
            let again = base.request(method, params.clone());
            assert!(!again.is_error(), "{method}: {again:?}");
        }
    }
}

/// The error of an outage names a remedy and does not contain the cause.
#[test]
fn outage_errors_name_a_remedy() {
    let unavailable = KnowledgeBase::new();
    unavailable.database.fail_after(0);
    for (base, remedy) in [(KnowledgeBase::not_migrated(), "migrations apply"), (unavailable, "Try again later")] {
        for (tool, arguments) in [
            ("search-documents", json!({ "query": "x" })),
            ("read-document", json!({ "slug": "testing" })),
            ("save-document", json!({ "slug": "a", "title": "t", "text": "x" })),
        ] {
            let (text, is_error) = base.text(tool, arguments);
            assert!(is_error && text.contains(remedy) && !text.contains("lets it fail"), "{tool}: {text}");
        }
        for (method, params) in
            [("resources/list", json!({})), ("resources/read", json!({ "uri": "kb://documents/testing" }))]
        {
            assert_eq!(code(&base.request(method, params)), Some(-32603), "{method}");
        }
    }
}
