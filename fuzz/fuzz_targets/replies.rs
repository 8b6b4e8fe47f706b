//! Fuzzes the answers of another server. Each use of the client ends with a result or an error, after a limited number of requests. The
//! sentence of an error is short and has no hidden characters.
//!
//! The first byte selects the use, the second byte the knowledge about the server and the media type. The rest is the body of each answer,
//! and also changes to the members of a valid result. `"$id"` becomes the id of the request.
#![no_main]

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::client::{ClientError, Connection, McpClient, Transport, Upstream};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::testing::{self, TestHost};
use edge_mcp::protocol::Revision;
use edge_mcp::FormAnswer;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::HeaderMap;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// The most requests of a connection (`src/limits.rs`).
const REQUESTS: usize = 40;

/// Answers each request with the same body.
struct Hostile {
    media_type: &'static str,
    has_session: bool,
    body: Vec<u8>,
    /// The number of requests.
    requests: Rc<Cell<usize>>,
}

impl Transport for Hostile {
    fn open(&self, request: Outbound, _: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        self.requests.set(self.requests.get() + 1);
        let id = serde_json::from_str::<Value>(&request.body).map_or(Value::Null, |message| message["id"].clone());
        let body = match std::str::from_utf8(&self.body) {
            Ok(text) => text.replace("\"$id\"", &id.to_string()).into_bytes(),
            Err(_) => self.body.clone(),
        };
        let mut headers = HeaderMap::new();
        headers.insert("content-type", self.media_type.parse().expect("a value"));
        if self.has_session {
            headers.insert("mcp-session-id", "s-1".parse().expect("a value"));
        }
        std::future::ready(Ok(Opened::new(200, headers, body))).boxed_local()
    }
}

/// Members of valid results of each method.
fn valid() -> Value {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "x-mcp-header": "A" } } });
    let tool = json!({ "name": "track", "description": "d", "inputSchema": schema, "outputSchema": schema });
    json!({
        "resultType": "complete", "ttlMs": 1, "cacheScope": "public",
        "content": [{ "type": "text", "text": "in Lyon" }], "structuredContent": {}, "isError": false,
        "tools": [tool], "resources": [{ "uri": "a:b", "name": "b" }], "resourceTemplates": [{ "uriTemplate": "a:{b}", "name": "b" }],
        "prompts": [{ "name": "p" }], "contents": [{ "uri": "a:b", "text": "t" }],
        "messages": [{ "role": "user", "content": { "type": "text", "text": "t" } }], "completion": { "values": ["v"] },
        "supportedVersions": ["2026-07-28"], "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": {},
    })
}

async fn use_once(of: u8, connection: &Connection) -> Result<(), ClientError> {
    let server = connection.only()?;
    match of % 8 {
        0 => drop(server.call("track", json!({ "a": "b" })).await?),
        1 => {
            let listing = server.list_tools().await?;
            assert!(listing.left_out.iter().all(|problem| is_shown(problem)), "{:?}", listing.left_out);
            for tool in &listing.items {
                assert_eq!(tool.description().chars().filter(|c| c.is_control() && !"\n\t".contains(*c)).count(), 0);
            }
            if let Some(tool) = listing.items.first() {
                drop(server.call(tool.name(), json!({ "a": "b" })).on_progress(|_| {}).await?);
            }
        }
        2 => drop(server.list_resources().await?),
        3 => drop(server.list_resource_templates().await?),
        4 => drop((server.list_prompts().await?, server.get_prompt("p", json!({})).await?)),
        5 => drop(server.read_resource("a:b").await?),
        6 => drop(server.complete_prompt("p", "a", "").await?),
        _ => drop(server.about().await?),
    }
    Ok(())
}

/// Returns whether a sentence is short, and has no characters that a person does not see.
fn is_shown(text: &str) -> bool {
    text.len() <= 4096
        && !text.chars().any(|c| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'))
}

fuzz_target!(|input: &[u8]| {
    let [of, how, rest @ ..] = input else { return };
    let mut result = valid();
    if let Ok(Value::Object(changes)) = serde_json::from_slice::<Value>(rest) {
        result.as_object_mut().expect("an object").extend(changes);
    }
    let changed = json!({ "jsonrpc": "2.0", "id": "$id", "result": result }).to_string();
    for body in [rest.to_vec(), changed.into_bytes()] {
        let is_stream = how & 1 == 1;
        let body = if is_stream && body.starts_with(b"{") { [b"data: ", &body[..], b"\n\n"].concat() } else { body };
        let media_type = if is_stream { "text/event-stream" } else { "application/json" };
        let hostile = Hostile { media_type, has_session: how & 2 == 2, body, requests: Rc::default() };
        let requests = hostile.requests.clone();
        let upstream = Upstream::via("https://parcels.example/mcp", hostile).expect("a URL");
        let upstream = match how >> 2 & 3 {
            0 => upstream,
            1 => upstream.revision(Revision::V2026_07_28),
            2 => upstream.revision(Revision::V2025_11_25).trusted(),
            _ => upstream.on_elicitation(|_, _| async { Ok(FormAnswer::Accepted(json!({ "a": 1 }))) }),
        };
        let client = McpClient::builder("desk", "1.0.0").server("parcels", upstream).build().expect("a client");
        let host = TestHost::new();
        let cx = testing::context(&host);
        let connection = client.connect(&cx);
        let outcome = testing::run(host.run(async { use_once(*of, &connection).await })).expect("it ends");
        // The end of a session is a task of its own.
        drop(connection);
        testing::run(host.run(async {})).expect("the tasks end");
        assert!(requests.get() <= REQUESTS, "{} requests", requests.get());
        if let Err(error) = outcome {
            assert!(is_shown(&error.to_string()), "{error:?}");
        }
    }
});
