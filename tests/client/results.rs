//! The results of resources, prompts and completions, and the description of a server.

use edge_mcp::client::{ClientError, Connection, Failure, InProcess, Peer as Server, Upstream};
use edge_mcp::content::Role;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{
    Completion, HandlerError, McpServer, Prompt, PromptMessage, Resource, ResourceContents, ResourceTemplate, Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::calls::{at, client, context};
use crate::peer::{Answer, Peer, error, result};

#[derive(Deserialize, JsonSchema)]
struct Review {
    language: String,
}

#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

fn library() -> InProcess {
    InProcess::new(testing::endpoint(|_| {
        let prompt = Prompt::new("review", |Review { language }: Review| async move {
            vec![PromptMessage::user(format!("Review this {language} code.")), PromptMessage::assistant("Yes.")]
        });
        let read_city = |City { city }: City| async move { format!("The weather of {city}") };
        McpServer::builder("library", "1.2.0")
            .instructions("Read before you ask.")
            .tool(Tool::new("greet", "Says hello.", || async { "Hello" }))
            .resource(Resource::new("text://motto", || async { "Read." }))
            .resource(Resource::new("data://icon", || async {
                ResourceContents::blob("data://icon", b"\x89PNG").mime_type("image/png")
            }))
            .resource_template(ResourceTemplate::new("weather://{city}", read_city))
            .prompt(prompt.complete("language", Completion::prefix(["Python", "Rust", "Ruby"])))
            .build()
    }))
}

/// Runs `work` with a connection to this server.
fn with<T>(upstream: Upstream, work: impl AsyncFnOnce(Server, Connection) -> T) -> T {
    let host = TestHost::new();
    let connection = client(upstream).connect(&context(&host));
    let server = connection.only().expect("a server");
    testing::run(host.run(work(server, connection))).expect("the work ends")
}

/// Every kind of request works in each revision.
#[test]
fn results_are_read_into_types() {
    let upstream = || Upstream::via("http://localhost/mcp", library()).expect("a URL");
    let pinned = Revision::ALL.map(|revision| (upstream().revision(revision), revision));
    for (upstream, revision) in pinned.into_iter().chain([(upstream(), Revision::V2026_07_28)]) {
        let outcome = with(upstream, async |library, _| {
            let motto = library.read_resource("text://motto").await?;
            assert_eq!((motto.text().as_str(), motto.contents[0].uri()), ("Read.", "text://motto"), "{revision}");
            let icon = library.read_resource("data://icon").await?;
            assert_eq!(icon.contents[0].bytes().as_deref(), Some(&b"\x89PNG"[..]), "{revision}");
            assert_eq!((icon.text().as_str(), icon.contents[0].as_text()), ("", None));
            assert_eq!(library.read_resource("weather://Paris").await?.text(), "The weather of Paris");

            let review = library.get_prompt("review", json!({ "language": "Rust" })).await?;
            let messages: Vec<_> =
                review.messages.iter().map(|message| (message.role, message.content.as_text())).collect();
            assert_eq!(messages, [(Role::User, Some("Review this Rust code.")), (Role::Assistant, Some("Yes."))]);

            let languages = library.complete_prompt("review", "language", "r").given("style", "short").await?;
            assert_eq!((languages.values, languages.has_more), (vec!["Rust".to_owned(), "Ruby".to_owned()], false));

            let about = library.about().await?;
            assert_eq!((about.name(), about.version()), ("library", "1.2.0"), "{revision}");
            assert_eq!((about.revision(), about.instructions()), (revision, Some("Read before you ask.")));
            assert!(about.has_capability("prompts") && !about.has_capability("logging"), "{}", about.raw());

            let names = |list: edge_mcp::client::Listing| {
                list.items.iter().map(|item| item.name().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(names(library.list_resources().await?), ["text://motto", "data://icon"]);
            assert_eq!(names(library.list_resource_templates().await?), ["weather://{city}"]);
            assert_eq!(names(library.list_prompts().await?), ["review"]);
            Ok::<_, ClientError>(())
        });
        outcome.unwrap_or_else(|error| panic!("{revision}: {error}"));
    }
}

/// C50, C122: a tool that fails has a result. An error of the client has a sentence for the caller.
#[test]
fn a_tool_that_fails_has_a_result() {
    let failure = json!({ "content": [{ "type": "text", "text": "No such parcel." }], "isError": true, "resultType": "complete" });
    let peer = Peer::new([result(failure), error(200, -32_602, "Unknown tool.")]);
    with(at(&peer).revision(Revision::V2026_07_28), async |parcels, _| {
        let result = parcels.call("track", json!({})).await.expect("a result");
        assert!(result.is_error());
        assert_eq!(result.json::<Value>().expect_err("a failure").message(), "No such parcel.");
        let passed = result.into_tool_result();
        assert_eq!((passed.is_error(), passed.text().as_str()), (true, "No such parcel."));
        let error: HandlerError = parcels.call("track", json!({})).await.expect_err("a failure").into();
        assert!(error.message().starts_with("The server `parcels` answers: \"Unknown tool.\""), "{}", error.message());
    });
}

/// The description is requested once for a connection.
#[test]
fn a_description_is_kept_for_the_connection() {
    let description = json!({ "resultType": "complete", "capabilities": {}, "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "n" } } });
    let peer = Peer::new([result(description)]);
    with(at(&peer), async |server, _| {
        for _ in 0..2 {
            assert_eq!(server.about().await.expect("a description").name(), "n");
        }
    });
    assert_eq!(peer.methods(), ["server/discover"]);

    let legacy = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": { "name": "old" } });
    let peer = Peer::new([error(404, -32_601, "no"), result(legacy), Answer::new(202, "", "")]);
    with(at(&peer), async |server, _| {
        let about = server.about().await.expect("a description");
        assert_eq!((about.name(), about.revision()), ("old", Revision::V2024_11_05));
    });
    assert_eq!(peer.methods(), ["server/discover", "initialize", "notifications/initialized"]);

    let peer = Peer::new([error(404, -32_601, "no")]);
    with(at(&peer).revision(Revision::V2026_07_28), async |server, _| {
        assert!(matches!(
            server.about().await.expect_err("no description").failure(),
            Failure::Rpc { code: -32_601, .. }
        ));
    });
}

/// Hostile results: a wrong form is an error, and parts of an unknown form are left out.
#[test]
fn malformed_results_are_errors() {
    let malformed = Failure::Malformed("has a result without the required members");
    let answer = |members: Value| {
        let mut answer = json!({ "resultType": "complete" });
        answer.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
        at(&Peer::new([result(answer)])).revision(Revision::V2026_07_28)
    };
    for members in [json!({}), json!({ "contents": 7 }), json!({ "contents": {} }), json!({ "contents": null })] {
        let outcome = with(answer(members.clone()), async |server, _| server.read_resource("a://b").await);
        assert_eq!(outcome.expect_err("an error").failure(), &malformed, "{members}");
    }
    for members in [json!({}), json!({ "messages": "x" })] {
        let outcome = with(answer(members.clone()), async |server, _| server.get_prompt("a", json!({})).await);
        assert_eq!(outcome.expect_err("an error").failure(), &malformed, "{members}");
    }
    for members in [json!({}), json!({ "completion": {} }), json!({ "completion": { "values": [1] } })] {
        let outcome = with(answer(members.clone()), async |server, _| server.complete_prompt("a", "b", "").await);
        assert_eq!(outcome.expect_err("an error").failure(), &malformed, "{members}");
    }
    let parts = json!({ "contents": [{ "uri": "a://b" }] });
    let outcome = with(answer(parts), async |server, _| server.read_resource("a://b").await);
    assert_eq!(outcome.expect_err("an error").failure(), &malformed, "no part can be read");
    let parts = json!({ "contents": [7, { "uri": "a://b" }, { "uri": "a://b", "text": "x", "blob": "eA==" }, { "uri": "a://b", "blob": "?" }, { "uri": "a://b", "blob": "AA" }] });
    let read = with(answer(parts), async |server, _| server.read_resource("a://b").await).expect("a result");
    assert_eq!((read.contents.len(), read.contents[0].bytes()), (1, None));
    let parts = json!({ "messages": [
        { "role": "system", "content": { "type": "text", "text": "x" } },
        { "role": "user", "content": { "type": "hologram" } },
        { "role": "user", "content": { "type": "text", "text": "y" } },
    ] });
    let prompt = with(answer(parts), async |server, _| server.get_prompt("a", json!({})).await).expect("a result");
    let contents: Vec<_> = prompt.messages.iter().map(|message| message.content.as_text()).collect();
    assert_eq!(contents, [None, Some("y")]);
    let received = prompt.messages[0].content.received();
    assert_eq!(received, Some(r#"{"type":"hologram"}"#), "an unknown block keeps its text");
    let many: Vec<_> = (0..200).map(|nth| nth.to_string()).collect();
    let many = json!({ "completion": { "values": many, "total": 200, "hasMore": true } });
    let values =
        with(answer(many), async |server, _| server.complete_template("a://{b}", "b", "").await).expect("a result");
    assert_eq!((values.values.len(), values.total, values.has_more), (100, Some(200), true));
    assert!(values.raw().contains(r#""199""#), "{}", values.raw());
}
