//! The URIs of mounted resources.

use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Answer, TestHost};
use edge_mcp::{Endpoint, McpServer, Resource};
use serde_json::{Value, json};

use crate::servers::{Server, caller, complete, endpoint, gateway, list, serving};

/// Returns a server whose resource is at each URI.
fn library(uris: &[&str]) -> Server {
    let resources: Vec<_> = uris.iter().map(|uri| json!({ "uri": uri, "name": "r" })).collect();
    let templates = json!([{ "uriTemplate": "doc:///{path}", "name": "t" }]);
    Server::with(json!({ "tools": [], "resources": resources, "resourceTemplates": templates }))
}

fn read(endpoint: &Endpoint, uri: &str) -> Answer {
    testing::run(caller(endpoint, &TestHost::new()).read(uri))
}

/// Returns the URI that a server got last.
fn asked(server: &Server) -> Option<Value> {
    server.take().into_iter().next_back().map(|message| message["params"]["uri"].clone())
}

/// C91, C92, A28, S36: a URI has the name of its mount, and leads back to the same text.
#[test]
fn uris_lead_back_to_their_servers() {
    let own = [
        "file:///a%20b?x=1&y=%2F#f",
        "coap+tcp://h/x",
        "two+file:///x",
        "one+file:///x",
        "urn:isbn:1",
        "HTTPS://Host/X",
        "doc:///a/b",
        "skill://tidy/SKILL.md",
        "skill://two/SKILL.md",
        "ui://card/main",
    ];
    let (one, two) = (library(&own), library(&own));
    let endpoint = endpoint([("one", one.mount().apps()), ("two", two.mount().apps())]);
    let listed = list(&endpoint, "resources");
    let is_skill = |uri: &&str| uri.starts_with("skill:");
    assert_eq!(
        listed.names().len(),
        2 * own.iter().filter(|uri| !is_skill(uri)).count(),
        "files of skills are not listed"
    );
    let expected = [
        "one+file:///a%20b?x=1&y=%2F#f",
        "one+coap+tcp://h/x",
        "one+two+file:///x",
        "one+one+file:///x",
        "one+urn:isbn:1",
        "one+HTTPS://Host/X",
        "one+doc:///a/b",
        "skill://one/tidy/SKILL.md",
        "skill://one/two/SKILL.md",
        "ui://one/card/main",
    ];
    let shown: Vec<_> = expected
        .iter()
        .map(|&uri| uri.to_owned())
        .chain(expected.iter().map(|uri| uri.replacen("one", "two", 1)))
        .collect();
    assert_eq!(listed.names(), shown.iter().map(|uri| &**uri).filter(|uri| !is_skill(uri)).collect::<Vec<_>>());
    for (nth, uri) in shown.iter().enumerate() {
        one.take();
        two.take();
        let answer = read(&endpoint, uri);
        if is_skill(&&**uri) {
            assert!(one.take().is_empty() && two.take().is_empty(), "{uri}: skills are shown as such, or not at all");
            continue;
        }
        let (asked_one, other) = if nth < own.len() { (&one, &two) } else { (&two, &one) };
        assert_eq!(asked(asked_one), Some(json!(own[nth % own.len()])), "{uri}");
        assert!(other.take().is_empty(), "{uri}");
        assert_eq!(answer.result()["contents"][0]["uri"], json!(uri), "contents have the URI of the caller");
        assert_eq!(answer.text(), format!("The text of {}.", own[nth % own.len()]), "texts do not change");
    }
    let templates = list(&endpoint, "resources/templates");
    assert_eq!(templates.names(), ["one+doc:///{path}", "two+doc:///{path}"]);
    assert_eq!(read(&endpoint, "two+doc:///x/y").text(), "The text of doc:///x/y.");
    assert_eq!(read(&endpoint, "TWO+doc:///x").text(), "The text of doc:///x.", "schemes lose their case");
}

/// C92, A28, the extension case 11: a URI without the name of a mount, or with another spelling, is not found, and no server hears of it.
#[test]
fn other_uris_are_not_found() {
    let (one, two) = (library(&["file:///x"]), library(&["ui://card/main"]));
    let endpoint = endpoint([("one", one.mount()), ("two", two.mount().apps())]);
    let long = format!("one+file:///{}", "x".repeat(8 << 10));
    for uri in [
        "file:///x",
        "three+file:///x",
        "+file:///x",
        "one%2Bfile:///x",
        "%6Fne+file:///x",
        "one",
        "one+a b",
        "one+grüße:x",
        "one+a\nb",
        &long,
        "ui://card/main",
        "ui://ONE/card",
        "ui://%74wo/card/main",
        "UI://two/card/main",
        "ui://two",
        "two+ui://card/main",
        "two+UI://card/main",
        "two+skill://x/SKILL.md",
        "TWO+ui://card/main",
        "one+ui://card/main",
        // The mount does not show its apps.
        "ui://one/card/main",
        // These could reach another server if somebody normalized them.
        "ui://one/../two/card/main",
        "ui://two/../one/x",
        "ui://two/./card",
        "ui://two//card",
        "ui://two/%2e%2e/x",
        "ui://two/a?b",
        "ui://two/a#b",
    ] {
        for revision in [Revision::V2026_07_28, Revision::V2025_06_18] {
            let answer = testing::run(caller(&endpoint, &TestHost::new()).revision(revision).read(uri));
            let code = if revision == Revision::V2026_07_28 { -32_602 } else { -32_002 };
            assert_eq!(answer.error().map(|(code, _)| code), Some(code), "{uri} {answer:?}");
        }
        assert!(one.take().is_empty() && two.take().is_empty(), "{uri}");
    }
}

/// C91, A29: links and embedded resources in results and prompts get the URI of the caller. Other texts do not change, in any revision.
#[test]
fn uris_in_results_are_rewritten() {
    let content = json!([
        { "type": "resource_link", "uri": "file:///a", "name": "a", "x-odd": 1.50 },
        { "type": "resource", "resource": { "uri": "skill://tidy/SKILL.md", "text": "see file:///a", "x-odd": [1e2] } },
        { "type": "resource_link", "uri": "other+file:///a", "name": "b" },
        { "type": "text", "text": "file:///a" },
    ]);
    let (blocks, messages) = (content.clone(), content[1].clone());
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("tools/call") => {
            let structured = json!({ "uri": "file:///a" });
            complete(json!({ "content": blocks, "structuredContent": structured, "_meta": { "uri": "file:///a" } }))
        }
        _ => complete(json!({ "messages": [{ "role": "user", "content": messages }] })),
    });
    let endpoint = endpoint([("one", server.mount())]);
    for revision in Revision::ALL {
        let client = caller(&endpoint, &TestHost::new()).revision(revision);
        let answer = testing::run(client.call("one_read", json!({})));
        let text = answer.result()["content"].to_string();
        for uri in ["one+file:///a", "skill://one/tidy/SKILL.md", "one+other+file:///a"] {
            assert!(text.contains(uri), "{revision}: {text}");
        }
        assert!(text.contains("see file:///a") && text.contains("\"text\":\"file:///a\""), "{text}");
        if revision == Revision::V2026_07_28 {
            let body = String::from_utf8_lossy(answer.body()).into_owned();
            assert!(
                body.contains("\"x-odd\":1.5") && body.contains("\"x-odd\":[1e2]") || body.contains("100.0"),
                "{body}"
            );
            assert_eq!(answer.result()["_meta"]["uri"], "file:///a");
        }
        let structured = &answer.result()["structuredContent"];
        assert!(structured.is_null() || structured["uri"] == "file:///a");
        let prompt = testing::run(client.prompt("one_p", json!({})));
        assert!(prompt.result().to_string().contains("skill://one/tidy/SKILL.md"), "{prompt:?}");
    }
}

/// A28, the extension case 11: an app of the server itself cannot have the URI of a mount.
#[test]
fn a_local_app_cannot_have_the_uri_of_a_mount() {
    let gateway = gateway([("maps", library(&[]).mount().apps())]);
    for (uri, is_refused) in [("ui://maps/x", true), ("ui://mapsx/x", false), ("ui://other/maps/x", false)] {
        let built =
            McpServer::builder("edge", "1").gateway(&gateway).resource(Resource::new(uri, || async { "" })).build();
        let problem = built.err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(problem.contains("mounted server"), is_refused, "{uri}: {problem}");
    }
}

/// C102: a local resource takes precedence, and resources can be switched off.
#[test]
fn resources_can_be_local_or_hidden() {
    let server = library(&["file:///x"]);
    let local = serving(gateway([("one", server.mount())]), |it| {
        it.resource(Resource::new("one+file:///x", || async { "the local one" }))
    });
    assert_eq!(read(&local, "one+file:///x").text(), "the local one");
    let hidden = endpoint([("one", server.mount().without_resources().without_prompts())]);
    server.take();
    assert_eq!(read(&hidden, "one+file:///x").error().map(|(code, _)| code), Some(-32_602));
    assert!(list(&hidden, "resources").names().is_empty() && list(&hidden, "prompts").names().is_empty());
    assert!(server.take().is_empty());
}

/// The arguments of prompts and templates are completed by their servers.
#[test]
fn completions_come_from_the_server() {
    let server = library(&[]);
    let endpoint = endpoint([("one", server.mount())]);
    for (reference, own) in [
        (
            json!({ "type": "ref/resource", "uri": "one+doc:///{path}" }),
            json!({ "type": "ref/resource", "uri": "doc:///{path}" }),
        ),
        (json!({ "type": "ref/prompt", "name": "one_hello" }), json!({ "type": "ref/prompt", "name": "hello" })),
    ] {
        let params = json!({ "ref": reference, "argument": { "name": "path", "value": "re" }, "context": { "arguments": { "a": "b" } } });
        let answer = testing::run(caller(&endpoint, &TestHost::new()).request("completion/complete", params));
        assert_eq!(answer.result()["completion"]["values"], json!(["re"]), "{answer:?}");
        let sent = server.take().pop().expect("a request");
        assert_eq!((&sent["params"]["ref"], &sent["params"]["context"]["arguments"]["a"]), (&own, &json!("b")));
    }
    let long = json!({ "type": "ref/resource", "uri": format!("one+doc:///{}", "x".repeat(8 << 10)) });
    let params = json!({ "ref": long, "argument": { "name": "path", "value": "" } });
    let answer = testing::run(caller(&endpoint, &TestHost::new()).request("completion/complete", params));
    assert!(answer.error().is_some() && server.take().is_empty(), "{answer:?}");
}
