//! The contents of results of another server: their parts, and what a tool of this program passes on.

use std::cell::RefCell;
use std::rc::Rc;

use edge_mcp::client::{CallResult, McpClient};
use edge_mcp::content::{Annotations, Block, Role};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Content, Context, Endpoint, HandlerError, McpServer, Tool, ToolResult};
use serde_json::{Value, json};

use crate::calls::{at, client, context};
use crate::peer::{Answer, Peer};

/// Blocks of every type, with every member that the specification has, and with members that it does not have. Numbers have digits that an
/// `f64` does not have.
const BLOCKS: &str = r#"[
    {"type":"text","text":"a\u202eb","annotations":{"audience":["user"],"priority":0.12345678901234567890,"lastModified":"2026-07-28T12:00:00+02:00","x":1},"_meta":{"example.com/a":1.50},"x":[1]},
    {"type":"image","data":"iVBORw==","mimeType":"image/png","annotations":{"priority":0.5},"x":{}},
    {"type":"audio","data":"AQ==","mimeType":"audio/wav","annotations":{"audience":["assistant"]},"_meta":{"example.com/b":2}},
    {"type":"resource","resource":{"uri":"a://b","mimeType":"text/plain","text":"t","_meta":{"example.com/c":3},"x":4},"annotations":{"priority":1}},
    {"type":"resource_link","uri":"a://c","name":"c","title":"C","description":"D","mimeType":"text/html","size":12345678901234567,"icons":[{"src":"https://a.example/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark","x":1}],"annotations":{"lastModified":"2026-07-28T12:00:00Z"},"_meta":{"example.com/d":5},"x":6},
    {"type":"hologram","depth":1.00000000000000000000000001,"_meta":{"example.com/e":7}}
]"#;

fn done(members: &str) -> Answer {
    let result = format!(r#"{{"jsonrpc":"2.0","id":"$id","result":{{"resultType":"complete",{members}}}}}"#);
    Answer::new(200, "application/json", result)
}

fn called(members: &str) -> CallResult {
    let host = TestHost::new();
    let upstream = at(&Peer::new([done(members)])).revision(Revision::V2026_07_28);
    let call = client(upstream).connect(&context(&host)).call("parcels_track", json!({})).expect("a call");
    testing::run(host.run(async move { call.await })).expect("the call ends").expect("a result")
}

/// Serves a tool that passes a result of another server on, after `change`.
fn passing(members: &str, change: impl Fn(CallResult) -> ToolResult + Copy + 'static) -> Endpoint {
    let upstream = at(&Peer::new([done(members), done(members)])).revision(Revision::V2026_07_28);
    let upstream = RefCell::new(Some(client(upstream)));
    let client = Rc::new(upstream.take().expect("a client"));
    testing::endpoint(move |_| {
        let client = client.clone();
        let pass = move |cx: Context| {
            let client = McpClient::clone(&client);
            async move {
                let result = client.connect(&cx).call("parcels_track", json!({}))?.await?;
                Ok::<_, HandlerError>(change(result))
            }
        };
        McpServer::builder("desk", "1.0.0").tool(Tool::new("pass", "Passes a result on.", pass)).build()
    })
}

/// Returns the result as the caller of a revision gets it, as text.
fn passed(endpoint: &Endpoint, revision: Revision) -> String {
    let answer = testing::run(Client::new(endpoint).revision(revision).call("pass", json!({})));
    String::from_utf8_lossy(answer.body()).into_owned()
}

fn blocks() -> Vec<String> {
    let items: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(BLOCKS).expect("JSON");
    items.iter().map(|item| item.get().to_owned()).collect()
}

/// A handler can look at the parts of each block.
#[test]
fn the_parts_of_blocks_are_read() {
    let result = called(&format!(r#""content":{BLOCKS},"structuredContent":[1.50],"_meta":{{"example.com/cost":1}}"#));
    let [text, image, audio, resource, link, unknown] = &result.content[..] else { panic!("{result:?}") };
    assert_eq!(text.as_text(), Some("a\u{202e}b"));
    let annotations = text.get_annotations().expect("annotations");
    assert_eq!(annotations.audience, [Role::User]);
    assert_eq!(annotations.priority, Some(0.123_456_789_012_345_68));
    assert_eq!(annotations.last_modified.as_deref(), Some("2026-07-28T12:00:00+02:00"));
    let Block::Image(media) = image.block() else { panic!("{image:?}") };
    assert_eq!(
        (media.mime_type(), media.base64(), media.bytes().as_deref()),
        ("image/png", "iVBORw==", Some(&b"\x89PNG"[..]))
    );
    let Block::Audio(media) = audio.block() else { panic!("{audio:?}") };
    assert_eq!((media.mime_type(), media.bytes()), ("audio/wav", Some(vec![1])));
    assert_eq!(audio.get_meta().expect("members")["example.com/b"], 2);
    let Block::Resource { resource, .. } = resource.block() else { panic!("{resource:?}") };
    assert_eq!(
        (resource.uri(), resource.as_text(), resource.get_mime_type()),
        ("a://b", Some("t"), Some("text/plain"))
    );
    assert_eq!(resource.get_meta().expect("members")["example.com/c"], 3);
    assert_eq!(link.get_meta().expect("members")["example.com/d"], 5);
    let Block::ResourceLink(link) = link.block() else { panic!("{link:?}") };
    assert_eq!(
        (link.uri(), link.name(), link.get_title(), link.get_description()),
        ("a://c", "c", Some("C"), Some("D"))
    );
    assert_eq!((link.get_mime_type(), link.get_size()), (Some("text/html"), Some(12_345_678_901_234_567)));
    let [icon] = link.get_icons() else { panic!("{link:?}") };
    assert_eq!((&*icon.src, icon.mime_type.as_deref()), ("https://a.example/i.png", Some("image/png")));
    assert_eq!((&*icon.sizes, icon.theme), (&["48x48".into()][..], Some(edge_mcp::content::Theme::Dark)));
    assert!(matches!(unknown.block(), Block::Unknown));
    let received: Vec<_> = result.content.iter().map(|block| block.received().expect("a text").to_owned()).collect();
    assert_eq!(received, blocks());
    assert_eq!((result.structured_content(), result.json::<Vec<f64>>().expect("numbers")), (Some("[1.50]"), vec![1.5]));
    assert_eq!(result.meta().expect("members")["example.com/cost"], 1);
    assert_eq!(result.text(), "a\u{202e}b");
}

/// A tool that passes a result on loses nothing of it: blocks keep their text. Only audio and links have another form in revisions without
/// them.
#[test]
fn a_result_is_passed_on_without_loss() {
    let members = format!(
        r#""content":{BLOCKS},"structuredContent":{{"a":1.00000000000000000000000001}},"isError":false,
        "_meta":{{"example.com/cost":1,"edge-mcp/missing":{{}},"io.modelcontextprotocol/serverInfo":{{"name":"p"}}}}"#
    );
    for revision in Revision::ALL {
        let answer = passed(&passing(&members, CallResult::into_tool_result), revision);
        let [text, image, audio, resource, link, unknown] = &blocks()[..] else { panic!("six blocks") };
        for block in [text, image, resource] {
            assert!(answer.contains(block), "{revision}: {block} is not in {answer}");
        }
        assert_eq!(answer.contains(audio), revision >= Revision::V2025_03_26, "{revision}: {answer}");
        assert_eq!(answer.contains(link), revision >= Revision::V2025_06_18, "{revision}: {answer}");
        assert!(answer.contains(r#""structuredContent":{"a":1.00000000000000000000000001}"#), "{revision}: {answer}");
        let message: Value = serde_json::from_str(&answer).expect("JSON");
        let result = &message["result"];
        let text = format!("Content of the type `hologram`: {unknown}");
        assert_eq!((&result["content"][5]["type"], &result["content"][5]["text"]), (&json!("text"), &json!(text)));
        if revision < Revision::V2025_03_26 {
            let resource = json!({ "uri": "content:audio", "mimeType": "audio/wav", "blob": "AQ==" });
            let audio = json!({
                "type": "resource", "resource": resource, "annotations": { "audience": ["assistant"] }, "_meta": { "example.com/b": 2 },
            });
            assert_eq!(result["content"][2], audio, "{revision}");
        }
        if revision < Revision::V2025_06_18 {
            let link = json!({
                "type": "text", "text": "[C](a://c)\nD", "annotations": { "lastModified": "2026-07-28T12:00:00Z" }, "_meta": { "example.com/d": 5 },
            });
            assert_eq!(result["content"][4], link, "{revision}");
        }
        // The caller gets the name of the server that answers it.
        let name = &result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"];
        let expected = if revision == Revision::V2026_07_28 { json!("desk") } else { json!(null) };
        assert_eq!((name, &result["_meta"]["example.com/cost"]), (&expected, &json!(1)), "{revision}");
        assert!(result["_meta"].get("edge-mcp/missing").is_none(), "{revision}: {answer}");
        assert_eq!(result["isError"], false);
    }
}

/// The hostile case 60: labels have no hidden characters, and no block has a member of `_meta` that clients would take for one of this library. All other
/// values keep their text.
#[test]
fn labels_are_cleaned_when_a_result_is_passed_on() {
    for (given, expected) in [
        (
            r#"{"type":"resource_link","uri":"a://b","name":"n\u202e","title":"t\u200b","description":"d\ue000\u2028","size":1.0,"x":"\u202e"}"#,
            "{\"type\":\"resource_link\",\"uri\":\"a://b\",\"name\":\"n\",\"title\":\"t\",\"description\":\"d\u{e000}\",\"size\":1.0,\"x\":\"\\u202e\"}",
        ),
        (
            r#"{"type":"hologram","title":"t\u200b","depth":1.00000000000000000000000001}"#,
            r#"{\"type\":\"hologram\",\"title\":\"t\",\"depth\":1.00000000000000000000000001}"#,
        ),
        (
            r#"{"type":"text","text":"x","_meta":{"edge-mcp/a":1,"example.com/b":1.0}}"#,
            r#"{"type":"text","text":"x","_meta":{"example.com/b":1.0}}"#,
        ),
        (
            r#"{"type":"resource","resource":{"uri":"a://b","text":"x","_meta":{"edge-mcp/a":1}}}"#,
            r#"{"type":"resource","resource":{"uri":"a://b","text":"x","_meta":{}}}"#,
        ),
    ] {
        let members = format!(r#""content":[{given}]"#);
        let answer = passed(&passing(&members, CallResult::into_tool_result), Revision::V2026_07_28);
        assert!(answer.contains(expected), "{expected} is not in {answer}");
    }
}

/// A program can set the annotations and the `_meta` of a block. The other members keep their text.
#[test]
fn members_of_a_block_can_be_set() {
    let change = |mut result: CallResult| {
        let set = |block: Content| block.annotations(Annotations::new().priority(1.0)).meta("example.com/new", 8);
        result.content = result.content.into_iter().map(set).collect();
        result.into_tool_result()
    };
    let answer = passed(&passing(&format!(r#""content":{BLOCKS}"#), change), Revision::V2026_07_28);
    assert!(answer.contains(r#"\"depth\":1.00000000000000000000000001"#), "{answer}");
    let message: Value = serde_json::from_str(&answer).expect("JSON");
    let content = &message["result"]["content"];
    assert_eq!(
        content[1],
        json!({
            "type": "image", "data": "iVBORw==", "mimeType": "image/png", "x": {},
            "annotations": { "priority": 1.0 }, "_meta": { "example.com/new": 8 },
        })
    );
    assert_eq!(content[5]["_meta"], json!({ "example.com/e": 7, "example.com/new": 8 }));
}

/// Clients reject a whole result because of a block of an unknown type or form, so they get a text instead. A value without a type is left out.
#[test]
fn blocks_of_an_unknown_type_or_form_become_text() {
    let long = format!(r#"{{"type":"hologram\u200b","x":"{}"}}"#, "x".repeat(2048));
    let blocks = format!(
        r#"[7, {{}}, {{"type":7}}, {{"type":"text"}}, {{"type":"image","data":"_-8=","mimeType":"image/png"}}, {{"type":"resource","resource":{{}}}},
        {{"type":"resource_link","uri":"a://b"}}, {{"type":"text","text":"x"}}, {long}]"#
    );
    assert_eq!(called(&format!(r#""content":{blocks}"#)).content.len(), 6);
    let endpoint = passing(&format!(r#""content":{blocks}"#), CallResult::into_tool_result);
    for revision in [Revision::V2026_07_28, Revision::V2024_11_05] {
        let message: Value = serde_json::from_str(&passed(&endpoint, revision)).expect("JSON");
        let content = message["result"]["content"].as_array().expect("a list").clone();
        assert!(content.iter().all(|block| block["type"] == "text"), "{content:?}");
        let texts: Vec<_> = content.iter().map(|block| block["text"].as_str().expect("a text")).collect();
        assert_eq!(
            texts,
            [
                r#"Content of the type `text`: {"type":"text"}"#,
                r#"Content of the type `image`: {"type":"image","data":"_-8=","mimeType":"image/png"}"#,
                r#"Content of the type `resource`: {"type":"resource","resource":{}}"#,
                r#"Content of the type `resource_link`: {"type":"resource_link","uri":"a://b"}"#,
                "x",
                &*format!("Content of the type `hologram`, which is left out: it has {} bytes of JSON.", long.len()),
            ]
        );
    }
}

/// The official clients reject a whole result because of such a member, so it is left out. The rest of the block keeps its text.
#[test]
fn members_that_clients_reject_are_left_out() {
    for (given, expected) in [
        (
            r#"{"type":"text","text":"x","annotations":{"audience":["user","robot"],"priority":0.50,"lastModified":"2026-07-28"},"x":1.0}"#,
            r#"{"type":"text","text":"x","annotations":{"priority":0.50},"x":1.0}"#,
        ),
        (
            r#"{"type":"text","text":"x","annotations":{"audience":"user","priority":7,"lastModified":null}}"#,
            r#"{"type":"text","text":"x","annotations":{}}"#,
        ),
        (r#"{"type":"text","text":"x","annotations":7,"_meta":[]}"#, r#"{"type":"text","text":"x"}"#),
        (
            r#"{"type":"resource","resource":{"uri":"a://b","text":"x","mimeType":7,"_meta":1}}"#,
            r#"{"type":"resource","resource":{"uri":"a://b","text":"x"}}"#,
        ),
        (
            r#"{"type":"resource_link","uri":"a://b","name":"b","title":1,"description":[],"size":-1.5,"icons":[{"src":1}]}"#,
            r#"{"type":"resource_link","uri":"a://b","name":"b"}"#,
        ),
        (
            r#"{"type":"resource_link","uri":"a://b","name":"b","icons":[{"src":"a:b","theme":"blue"}]}"#,
            r#"{"type":"resource_link","uri":"a://b","name":"b"}"#,
        ),
        (r#"{"type":"text","text":"x","annotations":null,"_meta":null}"#, r#"{"type":"text","text":"x"}"#),
    ] {
        let members = format!(r#""content":[{given}]"#);
        let answer = passed(&passing(&members, CallResult::into_tool_result), Revision::V2026_07_28);
        assert!(answer.contains(&format!(r#""content":[{expected}]"#)), "{expected} is not in {answer}");
    }
}

/// Some servers send only structured content, or null for an absent member.
#[test]
fn results_are_read_generously() {
    let result = called(r#""structuredContent":{"a":1.50,"b":null},"content":null,"isError":null,"_meta":null"#);
    assert_eq!((result.text().as_str(), result.is_error()), (r#"{"a":1.50,"b":null}"#, false));
    assert_eq!((result.structured_content(), result.meta()), (Some(r#"{"a":1.50,"b":null}"#), None));
    let answer = passed(&passing(r#""structuredContent":[1.50]"#, CallResult::into_tool_result), Revision::V2024_11_05);
    assert!(answer.contains(r#""content":[{"type":"text","text":"[1.50]"}]"#), "{answer}");
    // In 2026-07-28, null is a possible structured content.
    let result = called(r#""structuredContent":null,"content":[]"#);
    assert_eq!((result.structured_content(), result.content.len()), (Some("null"), 0));
}
