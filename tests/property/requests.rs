//! Random requests: valid requests of every method in both eras, and the same requests with corrupted parts.

use std::rc::Rc;

use edge_mcp::Endpoint;
use serde_json::{Map, Value, json};

use super::json::{Json, hostile};
use super::random::Random;
use super::specimen::{MAX_BODY, RawRequest, TOKEN, ask_at};

pub const NEWEST: &str = "2026-07-28";
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The methods of both eras.
pub const SHARED_METHODS: [&str; 8] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];
pub const LEGACY_METHODS: [&str; 3] = ["initialize", "ping", "logging/setLevel"];
pub const MODERN_METHODS: [&str; 2] = ["server/discover", "subscriptions/listen"];

const JSON_AND_STREAM: &str = "application/json, text/event-stream";
/// Headers that the endpoint or other servers read.
const HEADERS: [&str; 16] = [
    "Content-Type",
    "Accept",
    "Authorization",
    "Origin",
    "Content-Length",
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Param-Region",
    "Mcp-Param-Shard",
    "Mcp-Session-Id",
    "Last-Event-ID",
    "Access-Control-Request-Headers",
    "Request-Id",
    "traceparent",
    "Cookie",
];
/// Values of headers that parsers often handle wrongly.
const VALUES: [&[u8]; 34] = [
    b"",
    b" ",
    b",",
    b"\xff",
    b"\0",
    b"a\r\nb: c",
    b"\xc3\xa9",
    b"1",
    b"-1",
    b"99999999999999999999",
    b"null",
    b"*/*",
    b"text/event-stream",
    b"application/json",
    b"application/json; charset=utf-16",
    b"application/json;q=0",
    b"text/html, */*;q=NaN",
    b"Bearer",
    b"Bearer ada",
    b"Bearer bob",
    b"Basic YTpi",
    b"http://localhost",
    b"http://localhost:1@evil.example",
    b"http://evil.example",
    b"2026-07-28",
    b"2025-03-26",
    b"2099-01-01",
    b"tools/call",
    b"=?base64?c2F5?=",
    b"=?base64?/w==?=",
    b"=?base64?c2F5",
    b"say",
    b"eu",
    b"1e0",
];
const VERBS: [&str; 10] = ["POST", "GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "post", ""];
const URLS: [&str; 12] = [
    "/mcp",
    "/mcp?x=1#y",
    "https://example.com/mcp",
    "https://example.com?/mcp",
    "/",
    "",
    "/mcp/",
    "/mcpfoo",
    "/MCP",
    "//mcp",
    "/%6dcp",
    "/.well-known/oauth-protected-resource/mcp",
];

/// The cursors and request states that a client has from earlier answers.
pub struct Known {
    /// The method of a list, and its next cursor.
    cursors: Vec<(&'static str, String)>,
    /// The method and the parameters of a call that asks for input, and its request state.
    pub states: Vec<(&'static str, Value, String)>,
}

impl Known {
    /// Sends a first request for each list and for each call that asks for input.
    pub fn of(endpoint: &Rc<Endpoint>) -> Self {
        let result = |method, params: Value| -> Value {
            let answer = ask_at(endpoint, plain(method, &params));
            answer.result().clone()
        };
        let cursor =
            |method| result(method, json!({}))["nextCursor"].as_str().map(|cursor| (method, cursor.to_owned()));
        let state = |method, params: Value| {
            let state = result(method, params.clone())["requestState"].as_str()?.to_owned();
            Some((method, params, state))
        };
        Self {
            cursors: SHARED_METHODS.into_iter().filter(|method| method.ends_with("/list")).filter_map(cursor).collect(),
            states: calls_that_ask().into_iter().filter_map(|(method, params)| state(method, params)).collect(),
        }
    }
}

/// Calls that ask for input.
fn calls_that_ask() -> [(&'static str, Value); 5] {
    [
        ("tools/call", json!({ "name": "greet" })),
        ("tools/call", json!({ "name": "ask" })),
        ("tools/call", json!({ "name": "keep", "arguments": { "a": 1, "b": [null] } })),
        ("prompts/get", json!({ "name": "introduce" })),
        ("resources/read", json!({ "uri": "test://roots" })),
    ]
}

/// Returns the answers to the questions of all calls in `calls_that_ask`.
pub fn answers() -> Value {
    let name = json!({ "action": "accept", "content": { "name": "Ada" } });
    let text = json!({ "role": "assistant", "content": { "type": "text", "text": "Paris" }, "model": "m" });
    json!({
        "user_name": name,
        "name": { "action": "decline" },
        "text": text,
        "roots": { "roots": [{ "uri": "file:///a" }] },
        "page": { "action": "accept" },
    })
}

/// Returns valid parameters of `method`.
fn params(method: &str, random: &mut Random) -> Value {
    let all = match method {
        "tools/call" => vec![
            json!({ "name": "say", "arguments": { "text": "a", "times": 2 } }),
            json!({ "name": "say", "arguments": { "text": "" } }),
            json!({ "name": "work" }),
            json!({ "name": "work", "arguments": {} }),
            json!({ "name": "query", "arguments": { "region": "eu", "shard": 7 } }),
            json!({ "name": "query", "arguments": { "region": "日本" } }),
            json!({ "name": "media" }),
            json!({ "name": "count" }),
            json!({ "name": "refuse" }),
            json!({ "name": "break" }),
        ],
        "resources/read" => vec![
            json!({ "uri": "test://text" }),
            json!({ "uri": "test://bytes" }),
            json!({ "uri": "test://items/1" }),
            json!({ "uri": "test://files/a/b" }),
            json!({ "uri": "test://search?q=%C3%A9" }),
            json!({ "uri": "test://broken" }),
        ],
        "prompts/get" => vec![
            json!({ "name": "analyze", "arguments": { "code": "x", "lines": "3" } }),
            json!({ "name": "analyze@v1", "arguments": { "code": "x" } }),
            json!({ "name": "analyze", "version": "v1", "arguments": { "code": "x" } }),
            json!({ "name": "break" }),
        ],
        "completion/complete" => vec![
            json!({ "ref": { "type": "ref/prompt", "name": "analyze" }, "argument": { "name": "code", "value": "ru" } }),
            json!({
                "ref": { "type": "ref/resource", "uri": "test://items/{id}" },
                "argument": { "name": "id", "value": "" },
                "context": { "arguments": { "a": "b" } },
            }),
        ],
        "initialize" => vec![json!({
            "protocolVersion": random.one(&LEGACY),
            "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" },
        })],
        "logging/setLevel" => vec![json!({ "level": "debug" })],
        "subscriptions/listen" => vec![json!({ "notifications": { "toolsListChanged": true } })],
        _ => vec![json!({})],
    };
    all[random.below(all.len())].clone()
}

fn capabilities() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

/// Returns the header value with which a client repeats `value`.
fn mirrored(value: &str) -> Vec<u8> {
    use base64::Engine;
    if value.is_ascii() {
        return value.into();
    }
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(value)).into_bytes()
}

fn post(headers: &[(&str, &str)], body: &Value) -> RawRequest {
    let authorization = format!("Bearer {TOKEN}");
    let always = [("Content-Type", "application/json"), ("Authorization", &authorization)];
    let headers = always.iter().chain(headers).map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
    let body = body.to_string().into_bytes();
    RawRequest { verb: "POST".into(), url: "/mcp".into(), headers: headers.collect(), body }
}

/// Returns a valid request of 2026-07-28 from a client with all capabilities.
pub fn plain(method: &str, params: &Value) -> RawRequest {
    modern(method, params.clone(), &json!(1), Map::new())
}

fn modern(method: &str, mut params: Value, id: &Value, mut meta: Map<String, Value>) -> RawRequest {
    let text =
        |pointer: &str| params.pointer(pointer).map(|value| value.as_str().map_or(value.to_string(), Into::into));
    let names = [("/name", "Mcp-Name"), ("/uri", "Mcp-Name")];
    let arguments = [("/arguments/region", "Mcp-Param-Region"), ("/arguments/shard", "Mcp-Param-Shard")];
    let mirrors: Vec<_> = names.into_iter().chain(arguments).filter_map(|(at, name)| Some((name, text(at)?))).collect();
    meta.insert("io.modelcontextprotocol/protocolVersion".into(), json!(NEWEST));
    meta.insert("io.modelcontextprotocol/clientCapabilities".into(), capabilities());
    params["_meta"] = json!(meta);
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let mut request =
        post(&[("MCP-Protocol-Version", NEWEST), ("Mcp-Method", method), ("Accept", JSON_AND_STREAM)], &message);
    request.headers.extend(mirrors.into_iter().map(|(name, value)| (name.into(), mirrored(&value))));
    request
}

/// A generated request.
pub struct Generated {
    pub request: RawRequest,
    /// Whether the head is valid and the body is within the limit.
    pub has_valid_head: bool,
}

/// Generates noise, a valid request, or, most often, a valid request with corrupted parts.
pub fn request(random: &mut Random, known: &Known) -> Generated {
    if random.once_in(16) {
        return Generated { request: noise(random), has_valid_head: false };
    }
    let mut request = valid(random, known);
    if random.once_in(5) {
        return Generated { request, has_valid_head: true };
    }
    let mut has_valid_head = true;
    if !random.once_in(3) {
        let body: Value = serde_json::from_slice(&request.body).expect("a valid request has a JSON body");
        request.body = corrupted(&body, random);
    }
    if random.once_in(3) {
        corrupt_bytes(&mut request.body, random);
    }
    if random.once_in(3) {
        has_valid_head = false;
        (0..=random.below(2)).for_each(|_| corrupt_head(&mut request, random));
    }
    if random.once_in(200) {
        request.body.resize(MAX_BODY + random.below(2), b' ');
    }
    has_valid_head &= request.body.len() <= MAX_BODY;
    Generated { request, has_valid_head }
}

fn valid(random: &mut Random, known: &Known) -> RawRequest {
    let id =
        [json!(1), json!("a"), json!(""), json!(-7), json!(u64::MAX), json!("é\u{1f600}\n\"")][random.below(6)].clone();
    let is_modern = random.once_in(2);
    let own = if is_modern { &MODERN_METHODS[..] } else { &LEGACY_METHODS[..] };
    let methods: Vec<_> = SHARED_METHODS.iter().chain(own).copied().collect();
    let (method, mut given) = match random.below(8) {
        0 => {
            let (method, cursor) = &known.cursors[random.below(known.cursors.len())];
            (*method, json!({ "cursor": cursor }))
        }
        1 => {
            let calls = calls_that_ask();
            calls[random.below(calls.len())].clone()
        }
        2 | 3 if is_modern => {
            let (method, params, state) = &known.states[random.below(known.states.len())];
            let mut params = params.clone();
            params["inputResponses"] = answers();
            params["requestState"] = json!(state);
            (*method, params)
        }
        _ => {
            let method = random.one(&methods);
            (method, params(method, random))
        }
    };
    let mut meta = Map::new();
    if random.once_in(3) {
        meta.insert("progressToken".into(), if random.once_in(2) { json!("token") } else { json!(7) });
    }
    if random.once_in(4) {
        meta.insert("io.modelcontextprotocol/logLevel".into(), json!("info"));
    }
    if is_modern {
        let mut request = modern(method, given, &id, meta);
        match random.below(24) {
            0 => replace(&mut request, "\"elicitation\":", "\"unknown\":"),
            1 => replace(&mut request, NEWEST, "2099-01-01"),
            _ => {}
        }
        return request;
    }
    if !meta.is_empty() {
        given["_meta"] = json!(meta);
    }
    let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": given });
    let mut version = random.one(&LEGACY);
    match random.below(16) {
        0 => {
            version = "2025-03-26";
            let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            message = json!([message, notification, { "jsonrpc": "2.0", "id": "b", "method": "ping" }]);
        }
        1 => message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        2 => message = json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
        _ => {}
    }
    let accept = if random.once_in(2) { JSON_AND_STREAM } else { "application/json" };
    let mut request = post(&[("Accept", accept)], &message);
    if method != "initialize" && !random.once_in(8) {
        request.headers.push(("MCP-Protocol-Version".into(), version.into()));
    }
    request
}

/// Replaces `text` in all headers and in the body.
fn replace(request: &mut RawRequest, text: &str, by: &str) {
    let replaced = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(text, by).into_bytes();
    request.headers.iter_mut().for_each(|(_, value)| *value = replaced(value));
    request.body = replaced(&request.body);
}

fn noise(random: &mut Random) -> RawRequest {
    let text = |random: &mut Random| String::from_utf8_lossy(&random.bytes(12)).into_owned();
    let verb = if random.once_in(2) { text(random) } else { "POST".into() };
    let url = if random.once_in(2) { text(random) } else { "/mcp".into() };
    let headers = (0..random.below(6)).map(|_| {
        let name = if random.once_in(4) { text(random) } else { random.one(&HEADERS).to_owned() };
        (name, random.bytes(24))
    });
    let headers = headers.collect();
    let body = if random.once_in(2) { hostile(random).into_bytes() } else { random.bytes(300) };
    RawRequest { verb, url, headers, body }
}

/// Returns the text of the message after some of its values are corrupted.
fn corrupted(message: &Value, random: &mut Random) -> Vec<u8> {
    let mut message = Json::from(message);
    if random.once_in(3) {
        message.set("id", &hostile(random));
    }
    for _ in 0..random.below(4) {
        message.corrupt(random);
    }
    if random.once_in(20) {
        message = Json::Array((0..random.below(4)).map(|_| message.clone()).collect());
    }
    let mut text = String::new();
    message.write(&mut text);
    text.into_bytes()
}

fn corrupt_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len().max(1));
        match (random.below(7), bytes.len()) {
            (0, length) if length > 0 => bytes[at] ^= 1 << random.below(8),
            (1, length) if length > 0 => drop(bytes.remove(at)),
            (2, length) if length > 0 => bytes[at] = random.byte(),
            (3, length) if random.once_in(3) && length > 0 => bytes.truncate(at),
            (4, length) if length > 0 => {
                let part = bytes[at..(at + random.below(40)).min(length)].to_vec();
                bytes.splice(at..at, part);
            }
            (5, _) => drop(bytes.splice(..0, *random.one(&[b"\xef\xbb\xbf", b" \n\t", b"\0\0\0"]))),
            (_, length) => {
                bytes
                    .insert(at.min(length), *random.one(&[b" ", b"\"", b"{", b"}", b",", b"\\"]).first().unwrap_or(&0));
            }
        }
    }
}

fn corrupt_head(request: &mut RawRequest, random: &mut Random) {
    let count = request.headers.len();
    let value = match random.below(20) {
        0 => b"x".repeat(10_000),
        1 => random.bytes(16),
        _ => random.one(&VALUES.map(|value| value)).to_vec(),
    };
    match random.below(8) {
        0 if count > 0 => drop(request.headers.remove(random.below(count))),
        1 if count > 0 => {
            let twice = request.headers[random.below(count)].clone();
            request.headers.push(twice);
        }
        2 if count > 0 => request.headers[random.below(count)].1 = value,
        3 if count > 0 => corrupt_bytes(&mut request.headers[random.below(count)].1, random),
        4 if count > 0 => {
            let at = random.below(count);
            request.headers[at].0.make_ascii_uppercase();
        }
        5 if random.once_in(2) => request.verb = random.one(&VERBS).to_owned(),
        6 if random.once_in(2) => request.url = random.one(&URLS).to_owned(),
        _ => request.headers.push((random.one(&HEADERS).to_owned(), value)),
    }
}
