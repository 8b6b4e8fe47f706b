//! Requests: good ones of every method in both eras, and what becomes of them when parts are spoilt at random.

use std::rc::Rc;

use edge_mcp::Endpoint;
use serde_json::{Map, Value, json};

use super::json::{Json, hostile};
use super::random::Random;
use super::specimen::{Asked, MOST_BYTES, TOKEN, ask_at};

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

const BOTH: &str = "application/json, text/event-stream";
/// Headers that something reads.
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
/// Values of headers that readers get wrong.
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

/// What a client knows from earlier answers.
pub struct Known {
    /// A list, and where it goes on.
    cursors: Vec<(&'static str, String)>,
    /// A call that asked, and the state that came with the questions.
    pub states: Vec<(&'static str, Value, String)>,
}

impl Known {
    /// What `endpoint` gives to a client that asks for the first time.
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
            states: asking().into_iter().filter_map(|(method, params)| state(method, params)).collect(),
        }
    }
}

/// Calls that ask for input.
fn asking() -> [(&'static str, Value); 5] {
    [
        ("tools/call", json!({ "name": "greet" })),
        ("tools/call", json!({ "name": "ask" })),
        ("tools/call", json!({ "name": "keep", "arguments": { "a": 1, "b": [null] } })),
        ("prompts/get", json!({ "name": "introduce" })),
        ("resources/read", json!({ "uri": "test://roots" })),
    ]
}

/// Answers to all that they ask.
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

/// Good parameters of `method`.
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

/// A value as a client repeats it in a header.
fn mirrored(value: &str) -> Vec<u8> {
    use base64::Engine;
    if value.is_ascii() {
        return value.into();
    }
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(value)).into_bytes()
}

fn post(headers: &[(&str, &str)], body: &Value) -> Asked {
    let authorization = format!("Bearer {TOKEN}");
    let always = [("Content-Type", "application/json"), ("Authorization", &authorization)];
    let headers = always.iter().chain(headers).map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
    let body = body.to_string().into_bytes();
    Asked { verb: "POST".into(), url: "/mcp".into(), headers: headers.collect(), body }
}

/// A good request of 2026-07-28, whose client can do everything.
pub fn plain(method: &str, params: &Value) -> Asked {
    modern(method, params.clone(), &json!(1), Map::new())
}

fn modern(method: &str, mut params: Value, id: &Value, mut meta: Map<String, Value>) -> Asked {
    let text =
        |pointer: &str| params.pointer(pointer).map(|value| value.as_str().map_or(value.to_string(), Into::into));
    let names = [("/name", "Mcp-Name"), ("/uri", "Mcp-Name")];
    let arguments = [("/arguments/region", "Mcp-Param-Region"), ("/arguments/shard", "Mcp-Param-Shard")];
    let mirrors: Vec<_> = names.into_iter().chain(arguments).filter_map(|(at, name)| Some((name, text(at)?))).collect();
    meta.insert("io.modelcontextprotocol/protocolVersion".into(), json!(NEWEST));
    meta.insert("io.modelcontextprotocol/clientCapabilities".into(), capabilities());
    params["_meta"] = json!(meta);
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let mut asked = post(&[("MCP-Protocol-Version", NEWEST), ("Mcp-Method", method), ("Accept", BOTH)], &message);
    asked.headers.extend(mirrors.into_iter().map(|(name, value)| (name.into(), mirrored(&value))));
    asked
}

/// A request, and whether its head is still that of a good one.
pub struct Made {
    pub asked: Asked,
    pub has_good_head: bool,
}

/// A request: sometimes noise, mostly a good one of which some parts are spoilt, and sometimes none.
pub fn request(random: &mut Random, known: &Known) -> Made {
    if random.once_in(16) {
        return Made { asked: noise(random), has_good_head: false };
    }
    let mut asked = good(random, known);
    if random.once_in(5) {
        return Made { asked, has_good_head: true };
    }
    let mut has_good_head = true;
    if !random.once_in(3) {
        let body: Value = serde_json::from_slice(&asked.body).expect("it was written a moment ago");
        asked.body = spoilt(&body, random);
    }
    if random.once_in(3) {
        spoil_bytes(&mut asked.body, random);
    }
    if random.once_in(3) {
        has_good_head = false;
        (0..=random.below(2)).for_each(|_| spoil_head(&mut asked, random));
    }
    if random.once_in(200) {
        asked.body.resize(MOST_BYTES + random.below(2), b' ');
    }
    has_good_head &= asked.body.len() <= MOST_BYTES;
    Made { asked, has_good_head }
}

fn good(random: &mut Random, known: &Known) -> Asked {
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
            let asking = asking();
            asking[random.below(asking.len())].clone()
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
        let mut asked = modern(method, given, &id, meta);
        match random.below(24) {
            0 => replace(&mut asked, "\"elicitation\":", "\"unheard\":"),
            1 => replace(&mut asked, NEWEST, "2099-01-01"),
            _ => {}
        }
        return asked;
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
    let accept = if random.once_in(2) { BOTH } else { "application/json" };
    let mut asked = post(&[("Accept", accept)], &message);
    if method != "initialize" && !random.once_in(8) {
        asked.headers.push(("MCP-Protocol-Version".into(), version.into()));
    }
    asked
}

/// Another text in all places, of the headers and the body.
fn replace(asked: &mut Asked, text: &str, by: &str) {
    let replaced = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(text, by).into_bytes();
    asked.headers.iter_mut().for_each(|(_, value)| *value = replaced(value));
    asked.body = replaced(&asked.body);
}

fn noise(random: &mut Random) -> Asked {
    let text = |random: &mut Random| String::from_utf8_lossy(&random.bytes(12)).into_owned();
    let verb = if random.once_in(2) { text(random) } else { "POST".into() };
    let url = if random.once_in(2) { text(random) } else { "/mcp".into() };
    let headers = (0..random.below(6)).map(|_| {
        let name = if random.once_in(4) { text(random) } else { random.one(&HEADERS).to_owned() };
        (name, random.bytes(24))
    });
    let headers = headers.collect();
    let body = if random.once_in(2) { hostile(random).into_bytes() } else { random.bytes(300) };
    Asked { verb, url, headers, body }
}

/// The message with some of its values spoilt, as it is written then.
fn spoilt(message: &Value, random: &mut Random) -> Vec<u8> {
    let mut message = Json::from(message);
    if random.once_in(3) {
        message.set("id", &hostile(random));
    }
    for _ in 0..random.below(4) {
        message.spoil(random);
    }
    if random.once_in(20) {
        message = Json::Array((0..random.below(4)).map(|_| message.clone()).collect());
    }
    let mut text = String::new();
    message.write(&mut text);
    text.into_bytes()
}

fn spoil_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
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

fn spoil_head(asked: &mut Asked, random: &mut Random) {
    let count = asked.headers.len();
    let value = match random.below(20) {
        0 => b"x".repeat(10_000),
        1 => random.bytes(16),
        _ => random.one(&VALUES.map(|value| value)).to_vec(),
    };
    match random.below(8) {
        0 if count > 0 => drop(asked.headers.remove(random.below(count))),
        1 if count > 0 => {
            let twice = asked.headers[random.below(count)].clone();
            asked.headers.push(twice);
        }
        2 if count > 0 => asked.headers[random.below(count)].1 = value,
        3 if count > 0 => spoil_bytes(&mut asked.headers[random.below(count)].1, random),
        4 if count > 0 => {
            let at = random.below(count);
            asked.headers[at].0.make_ascii_uppercase();
        }
        5 if random.once_in(2) => asked.verb = random.one(&VERBS).to_owned(),
        6 if random.once_in(2) => asked.url = random.one(&URLS).to_owned(),
        _ => asked.headers.push((random.one(&HEADERS).to_owned(), value)),
    }
}
