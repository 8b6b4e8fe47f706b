//! Chat models: retries, timeouts, errors, and invalid settings.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::agents::{Agent, ChatAgent, ChatModel};
use edge_mcp::host::{FetchError, FetchLimits, Fetched};
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{ConfigError, Endpoint, McpServer, Tool};
use futures::executor::LocalPool;
use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};

use crate::fake_model::{Reply, choice, model, status, text};
use crate::network;
use crate::support::{Ask, envelope, legacy, modern, on};

const KEY: &str = "sk-0123456789";
const QUESTION: &str = "What is in my letters?";
const URL: &str = "https://models.example.com/v1";

fn remote() -> ChatModel {
    ChatModel::new(URL, "large").and_then(|model| model.api_key(KEY)).expect("a model")
}

fn clerk(model: ChatModel) -> ChatAgent {
    ChatAgent::new("clerk", "The clerk", "Knows.", model)
}

fn endpoint(agent: impl Fn() -> ChatAgent + 'static) -> Endpoint {
    testing::endpoint(move |_| McpServer::builder("s", "1").agent(agent()).build())
}

fn question() -> Ask {
    legacy("tools/call", json!({ "name": "ask_clerk", "arguments": { "message": QUESTION } }))
}

/// Calls the agent. Returns the text, whether it is an error, the host with its log, and the pauses between attempts in milliseconds.
fn ask(network: &TestHost, agent: impl Fn() -> ChatAgent + 'static) -> (String, bool, TestHost, Vec<u128>) {
    let host = network.clone();
    let answer = question().ask_on(&endpoint(agent), &host);
    let (text, is_error) = answer.tool_text();
    let waits = host.waits().iter().map(Duration::as_millis).collect();
    (text.to_owned(), is_error, host, waits)
}

/// Returns the cause of the logged failure, or an empty text.
fn cause(host: &TestHost) -> String {
    let failure = host.log().into_iter().find(|line| line["event"] == "failure");
    failure.map_or(String::new(), |line| line["cause"].as_str().expect("a cause").to_owned())
}

fn failed(cause: &str) -> Reply {
    Err(FetchError::Failed(cause.into()))
}

/// A 429 with this `Retry-After`.
fn busy_for(seconds: u64) -> Reply {
    status(429, "").map(|mut busy| {
        busy.retry_after = Some(Duration::from_secs(seconds));
        busy
    })
}

/// Transient errors are retried. The pauses are random, between 50% and 100% of 0.5 s, 1 s, 2 s…, or the
/// time of `Retry-After`.
#[test]
fn transient_errors_are_retried() {
    type Waits = Vec<std::ops::RangeInclusive<u128>>;
    let cases: Vec<(Vec<Reply>, Waits)> = vec![
        (vec![], vec![]),
        (vec![status(429, "")], vec![250..=500]),
        (vec![status(500, "")], vec![250..=500]),
        (vec![status(503, ""), status(529, ""), status(408, "")], vec![250..=500, 500..=1000, 1000..=2000]),
        (vec![failed("reset")], vec![250..=500]),
        (vec![busy_for(7), status(500, "")], vec![7000..=7000, 500..=1000]),
        (vec![busy_for(0)], vec![250..=500]),
        (vec![status(200, "<h1>Welcome</h1>")], vec![250..=500]),
        (vec![status(200, "{}"), status(500, "")], vec![250..=500, 500..=1000]),
    ];
    for (first, waits) in cases {
        let case = format!("{first:?}");
        let network = model(first.into_iter().chain([text("Three.")]));
        let (text, is_error, host, waited) = ask(&network, || clerk(remote()));
        assert_eq!((text.as_str(), is_error), ("Three.", false), "{case}");
        assert_eq!(waited.len(), waits.len(), "{case}");
        assert!(waited.iter().zip(&waits).all(|(waited, range)| range.contains(waited)), "{case}: {waited:?}");
        let bodies: Vec<_> = network.requests().iter().map(|request| request.body().clone()).collect();
        assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "each attempt sends the same body");
        assert_eq!(cause(&host), "");
    }
}

/// Attempts end when the time limit leaves no time for another one. Each request may take the time that is left.
#[test]
fn attempts_end_at_the_time_limit() {
    for (seconds, least, most) in [(60, 11, 19), (3, 3, 4), (295, 40, 78)] {
        let network = network::answering(500, "");
        let agent = move || clerk(remote()).time_limit(Duration::from_secs(seconds));
        let (text, is_error, host, waits) = ask(&network, agent);
        assert!(is_error && text.starts_with("The model cannot be reached."), "{text}");
        assert!((least..=most).contains(&network.requests().len()), "{seconds}: {}", network.requests().len());
        assert_eq!(waits.len() + 1, network.requests().len());
        let waited: u128 = waits.iter().sum();
        assert!(waited < u128::from(seconds) * 1000 && waits.iter().all(|wait| *wait <= 8000), "{waits:?}");
        let left = network::limits(&network).expect("limits").time;
        assert_eq!(left.as_millis() + waited, u128::from(seconds) * 1000);
        assert!(cause(&host).ends_with(&format!("(asked {} times)", network.requests().len())), "{}", host.log_text());
    }
    let network = model([busy_for(60)]);
    let (text, is_error, ..) = ask(&network, || clerk(remote()));
    assert_eq!((text.as_str(), is_error), ("The model's endpoint is overloaded. Try again in a minute.", true));
}

/// Permanent errors are returned without a retry, and an unusable answer is retried once. The error describes the problem and the
/// remedy, and the log has the cause. Neither contains the key, the question, the instructions, or text of the endpoint that quotes
/// them.
#[test]
fn permanent_errors_are_returned_at_once() {
    let echo = format!(r#"{{"error":{{"message":"Bad key {KEY} for {QUESTION}","code":"{KEY}"}}}}"#);
    let coded = r#"{"error":{"message":"No.","code":"model_not_found"}}"#;
    let reply = |message: Value, reason: &str| choice(message, reason);
    let nothing = json!({ "role": "assistant", "content": " " });
    let broken = |body: &str| vec![status(200, body), status(200, body)];
    let cases: Vec<(Vec<Reply>, &str, &str)> = vec![
        (vec![status(401, &echo)], "rejected this server's key", "answers with status 401"),
        (vec![status(403, "")], "rejected this server's key", "answers with status 403"),
        (vec![status(400, &echo)], "rejected the request", "answers with status 400"),
        (vec![status(404, coded)], "rejected the request", "answers with status 404, model_not_found"),
        (vec![status(413, "")], "rejected the request", "answers with status 413"),
        (vec![status(302, "")], "rejected the request", "answers with status 302"),
        (vec![status(204, "")], "rejected the request", "answers with status 204"),
        (vec![Err(FetchError::TooSlow)], "did not answer within 60 s", "did not answer within 60 s"),
        (vec![Err(FetchError::TooLarge)], "an answer that cannot be used", "longer than the limit"),
        (vec![reply(nothing.clone(), "length")], "used all of its tokens", "used all of its tokens"),
        (
            vec![reply(json!({ "content": QUESTION }), "content_filter")],
            "because of its content filter",
            "content filter",
        ),
        (broken(""), "an answer that cannot be used", "not JSON"),
        (broken(r#"{"choices":[{"mess"#), "an answer that cannot be used", "not JSON"),
        (broken("[]"), "an answer that cannot be used", "no choice with a message"),
        (broken(r#"{"choices":[]}"#), "an answer that cannot be used", "no choice with a message"),
        (broken(r#"{"choices":[{"message":"Hello"}]}"#), "an answer that cannot be used", "no choice with a message"),
        (broken(r#"{"choices":[{"message":{"content":[1]}}]}"#), "cannot be used", "neither text nor calls"),
        (vec![reply(nothing.clone(), "stop"), reply(nothing, "stop")], "cannot be used", "neither text nor calls"),
    ];
    for (answers, says, logs) in cases {
        let (case, count) = (format!("{answers:?}"), answers.len());
        let network = model(answers);
        let (text, is_error, host, _) = ask(&network, || clerk(remote()).instructions("Keep it to yourself."));
        assert!(is_error && text.contains(says), "{case}: {text}");
        assert!(cause(&host).contains(logs), "{case}: {}", host.log_text());
        assert_eq!(network.requests().len(), count, "{case}");
        for private in [KEY, QUESTION, "yourself"] {
            assert!(
                !text.contains(private) && !host.log_text().contains(private),
                "{case}: {text} {}",
                host.log_text()
            );
        }
    }
}

struct Dropped(Rc<Cell<&'static str>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.set("dropped");
    }
}

/// Returns a network on which no response ever arrives. `state` becomes `waits` when a request is sent, and `dropped` when it ends.
fn silence(
    state: &Rc<Cell<&'static str>>,
) -> impl Fn(http::Request<String>, FetchLimits) -> LocalBoxFuture<'static, Result<Fetched, FetchError>> + 'static {
    let state = state.clone();
    move |_, _| {
        state.set("waits");
        let waiting = Dropped(state.clone());
        async move {
            std::future::pending::<()>().await;
            drop(waiting);
            Err(FetchError::TooSlow)
        }
        .boxed_local()
    }
}

/// The request to the model is dropped at the time limit of the agent, and when the client disconnects.
#[test]
fn the_end_of_a_call_drops_its_request() {
    let state: Rc<Cell<&'static str>> = Rc::default();
    let host = TestHost::new().fetch(silence(&state));
    let answer = question().ask_on(&endpoint(|| clerk(remote()).time_limit(Duration::from_secs(20))), &host);
    assert!(answer.tool_text().0.contains("within 20 s"), "{answer:?}");
    assert_eq!((state.get(), host.waits()), ("dropped", vec![Duration::from_secs(20)]));

    let mut pool = LocalPool::new();
    let host = on(&pool, &TestHost::new().fetch(silence(&state)));
    let mut params = json!({ "name": "ask_clerk", "arguments": { "message": QUESTION }, "_meta": envelope() });
    let ask = modern("tools/call", params.clone());
    params["_meta"]["progressToken"] = json!(1);
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let ask = ask.with_body(message.to_string()).header("Accept", "application/json, text/event-stream");
    let endpoint = endpoint(|| clerk(remote()));
    let mut stream = match pool.run_until(ask.raw(&endpoint, &host)).into_body() {
        edge_mcp::http::Body::Stream(stream) => stream,
        edge_mcp::http::Body::Bytes(bytes) => panic!("{}", String::from_utf8_lossy(&bytes)),
    };
    pool.run_until(stream.next()).expect("progress");
    pool.run_until_stalled();
    assert_eq!(state.get(), "waits");
    drop(stream);
    pool.run_until_stalled();
    assert_eq!(state.get(), "dropped");
}

/// The error for an invalid setting has its name and the expected value. The debug output of a model does not show the key.
#[test]
fn invalid_settings_are_rejected_by_name() {
    let shown = format!("{:?}", remote());
    assert!(shown.contains("models.example.com") && !shown.contains(KEY), "{shown}");
    for (url, name, key, problem) in [
        ("http://models.example.com/v1", "m", "k", "base_url must be an https: URL, unless it is on localhost"),
        ("models.example.com", "m", "k", "base_url must be a URL"),
        ("https://models.example.com/v1?version=1", "m", "k", "base_url must be the base URL before /chat/completions"),
        (
            "https://models.example.com/chat/completions/",
            "m",
            "k",
            "base_url must be the base URL before /chat/completions",
        ),
        (URL, " ", "k", "model must be the name of the model"),
        (URL, "m", "k\n", "api_key has characters that are not printable ASCII"),
        (URL, "m", "k\u{e9}", "api_key has characters that are not printable ASCII"),
    ] {
        let error = ChatModel::new(url, name).and_then(|model| model.api_key(key)).err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|error| error.starts_with(problem)), "{problem}: {error:?}");
    }
}

#[test]
fn a_model_can_be_read_from_the_environment() {
    const NAMES: [&str; 3] = ["A_URL", "A_MODEL", "A_KEY"];
    let read = |values: [&'static str; 3]| -> Result<Option<ChatModel>, ConfigError> {
        let environment = move |name: &str| {
            let at = NAMES.iter().position(|known| *known == name)?;
            (values[at] != "-").then(|| values[at].to_owned())
        };
        ChatModel::from_environment(&environment, NAMES)
    };
    for (values, problem) in [
        (["-", "-", "-"], None),
        (["", " ", ""], None),
        (["https://a.example/v1", "m", "-"], None),
        (["http://localhost:1 ", " m", " "], None),
        (["https://a.example/v1", "-", "-"], Some("A_MODEL is not set, but A_URL or A_KEY is")),
        (["-", "m", "-"], Some("A_URL is not set, but A_MODEL or A_KEY is")),
        (["-", "-", "k"], Some("A_URL is not set, but A_MODEL or A_KEY is")),
        (["http://a.example/v1", "m", "-"], Some("A_URL must be an https: URL, unless it is on localhost")),
        (["https://a.example/v1", "m", "k\nk"], Some("A_KEY has characters that are not printable ASCII")),
    ] {
        let read = read(values);
        assert_eq!(read.as_ref().err().map(ToString::to_string).as_deref(), problem, "{values:?}");
        if let Ok(model) = read {
            assert_eq!(model.is_some(), values[0].starts_with("http"), "{values:?}");
        }
    }
}

/// A server with an invalid agent is rejected. The error has the key of the agent.
#[test]
fn invalid_agents_are_rejected_by_key() {
    let tool = |name: &'static str| Tool::new(name, "d", || async {});
    let build =
        |agent: ChatAgent| McpServer::builder("s", "1").agent(agent).tool(tool("a.b")).tool(tool("a_b")).build();
    let local = || ChatModel::new("http://localhost:1", "m").expect("a model");
    for (agent, problem) in [
        (clerk(local()).tools(["a.b", "none"]), "calls the tool `none`, which the server does not have for agents"),
        (clerk(local()).tools(["a.b", "a_b"]), "has two tools with the name `a_b` in chat completions"),
        (clerk(local()).tools(["a.b", "a.b"]), "has two tools with the name `a_b` in chat completions"),
        (clerk(local()).first_call("a.b", |_| json!({})), "has the first call `a.b`, which is not one of its tools"),
        (clerk(local().parameter("stream", true)), "has the model parameter `stream`, which is reserved for the agent"),
        (ChatAgent::new("clerk", "The clerk", " ", local()), "(named \"The clerk\") has an empty description"),
    ] {
        let error = build(agent).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with(&format!("the agent \"clerk\" {problem}")), "{error}");
    }
    assert!(build(clerk(local()).tools(["a.b"]).first_call("a.b", |_| json!({}))).is_ok());
    for (asked, seconds) in [(None, 65), (Some(5), 10), (Some(1000), 300)] {
        let agent = clerk(local());
        let agent = asked.into_iter().fold(agent, |agent, asked| agent.time_limit(Duration::from_secs(asked)));
        assert_eq!(agent.deadline().as_secs(), seconds, "the deadline leaves 5 s for the error after the time limit");
    }
}
