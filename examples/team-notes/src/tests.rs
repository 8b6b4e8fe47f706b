//! Native tests of the whole endpoint. A database in memory runs the migrations and the SQL, and other servers return prepared responses.

use edge_mcp::client::{InProcess, Upstream};
use edge_mcp::host::{FetchError, Fetched};
use edge_mcp::rag::SqlitePassages;
use edge_mcp::testing::{self, Client, TestDatabase, TestHost, TestKv};
use edge_mcp::{McpServer, StaticTokens, Tool};
use serde_json::json;

use crate::dictionary::Dictionary;
use crate::{server, weather};

/// Runs a test with two clients of a server that has the note 1 of Ada. Only Ada may change notes.
fn with_note<T>(test: impl AsyncFnOnce(Client<'_>, Client<'_>) -> T) -> T {
    let tokens =
        r#"[{"token":"a","subject":"ada","scopes":["notes:write"]},{"token":"b","subject":"bob","scopes":[]}]"#;
    let sunny = || Tool::new("get-weather", "Weather", |_: weather::Place| async { "Sunny" });
    let other = testing::endpoint(move |_| McpServer::builder("weather", "1").tool(sunny()).build());
    let other = Upstream::via("http://localhost/mcp", InProcess::new(other)).expect("a URL");
    let notes = TestDatabase::migrated("migrations").expect("the migrations run").database();
    let endpoint = testing::endpoint(server)
        .auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("a list"))
        .state(SqlitePassages::new(notes.clone()))
        .state(notes)
        .state(TestKv::new(&TestHost::new()).store())
        .state(Dictionary { url: "https://dictionary.example".to_owned() })
        .state(weather::client(other).expect("a client"));
    testing::run(async {
        let [ada, bob] = ["a", "b"].map(|token| Client::new(&endpoint).token(token));
        let note = json!({ "title": "Green tea", "text": "Steep the leaves for two minutes." });
        assert_eq!(ada.call("add-note", note).await.structured()["id"], 1);
        test(ada, bob).await
    })
}

#[test]
fn test_1_an_added_note_is_found_by_a_part_of_it() {
    let found = with_note(async |_, bob| bob.call("find-notes", json!({ "part": "TEA" })).await);
    assert_eq!(found.structured()["notes"][0]["title"], "Green tea");
    assert_eq!(found.structured()["notes"][0]["author"], "ada");
}

#[test]
fn test_2_a_note_is_deleted_after_confirmation_by_a_caller_with_the_scope() {
    with_note(async |ada, bob| {
        let one = json!({ "id": 1 });
        assert_eq!(bob.call("delete-note", one.clone()).await.status(), 403);
        let kept = ada.clone().decline("delete").call("delete-note", one.clone()).await;
        assert_eq!(kept.text(), "The note was not deleted.");
        let deleted = ada.clone().answer("delete", json!({})).call("delete-note", one).await;
        assert_eq!(deleted.questions()["delete"]["params"]["message"], "Delete the note \"Green tea\" of ada?");
        assert_eq!(deleted.text(), "Deleted the note \"Green tea\".");
        assert!(ada.read("notes://1").await.is_error());
        let found = ada.call("search-passages", json!({ "queryText": "leaves" })).await;
        assert_eq!(found.structured()["sources"], json!([]));
    });
}

#[test]
fn test_3_a_word_is_defined_and_each_failure_has_a_sentence() {
    with_note(async |ada, _| {
        for (outcome, text) in [
            (Ok(Fetched::new(200, r#"{ "definition": "A drink." }"#)), "A drink."),
            (Ok(Fetched::new(404, "")), "The dictionary does not have this word."),
            (Ok(Fetched::new(429, "")), "The dictionary is busy."),
            (Ok(Fetched::new(200, "{}")), "The dictionary has no definition of this word."),
            (Ok(Fetched::new(200, " ".repeat(10_001))), "The entry of this word is too long."),
            (Err(FetchError::TooSlow), "The dictionary did not answer within 3 seconds."),
            (Err(FetchError::Failed("refused".to_owned())), "The dictionary is not available."),
        ] {
            let host = TestHost::new().fetch(move |_, _| std::future::ready(outcome.clone()));
            let defined = ada.clone().host(&host).call("define-word", json!({ "word": "tea" })).await;
            assert!(defined.text().starts_with(text), "{}", defined.text());
        }
    });
}

#[test]
fn test_4_calls_are_counted_by_caller() {
    with_note(async |ada, bob| {
        assert_eq!(ada.call("count-calls", json!({})).await.text(), "Your calls: 1.");
        assert_eq!(bob.call("count-calls", json!({})).await.text(), "Your calls: 0.");
    });
}

#[test]
fn test_5_each_note_is_a_resource() {
    with_note(async |ada, _| {
        assert_eq!(ada.list("resources").await.names(), ["notes://1"]);
        assert_eq!(ada.read("notes://1").await.text(), "# Green tea\n\nby ada\n\nSteep the leaves for two minutes.");
    });
}

#[test]
fn test_6_the_prompt_has_the_note() {
    let prompt = with_note(async |ada, _| ada.prompt("summarize-note", json!({ "id": "1" })).await);
    assert!(prompt.text().starts_with("Summarize this note in one sentence.\n\n# Green tea"), "{}", prompt.text());
}

#[test]
fn test_7_the_weather_is_from_the_other_server() {
    let weather = with_note(async |ada, _| ada.call("get-weather", json!({ "location": "Paris" })).await);
    assert_eq!(weather.text(), "Sunny");
}

#[test]
fn test_8_passages_of_notes_are_found() {
    let found = with_note(async |ada, _| ada.call("search-passages", json!({ "queryText": "steeping tea" })).await);
    assert_eq!(found.structured()["sources"][0]["uri"], "notes://1");
}
