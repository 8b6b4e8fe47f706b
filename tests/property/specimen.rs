//! The endpoint under test, which has items of every kind, and the requests to it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroUsize;

use edge_mcp::call::Sampling;
use edge_mcp::host::{BodyError, Request};
use edge_mcp::protocol::LogLevel;
use edge_mcp::testing::{self, Answer, Client, TestHost};
use edge_mcp::{
    BuildError, Completion, Content, Context, Endpoint, FormAnswer, HandlerError, Json, Limits, McpServer, Prompt,
    PromptArgument, PromptMessage, RequestInfo, Resource, ResourceDescription, ResourceTemplate, StaticTokens, Tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A token that the endpoint accepts.
pub const TOKEN: &str = "ada";
/// An internal detail of failing handlers. Answers must not contain it.
pub const SECRET: &str = "db-7.internal:5432";
/// The limit of a body in bytes. The limit is low, so that small bodies can exceed it.
pub const MAX_BODY: usize = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
struct Words {
    #[schemars(length(min = 1, max = 20))]
    text: String,
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 9))]
    times: u32,
}

fn once() -> u32 {
    1
}

#[derive(Serialize, JsonSchema)]
struct Said {
    said: String,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    #[schemars(length(min = 1, max = 20))]
    name: String,
    nick: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    #[schemars(extend("x-mcp-header" = "Shard"))]
    #[serde(default)]
    shard: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Code {
    code: String,
    lines: Option<u32>,
}

#[derive(Debug)]
struct Internal;

impl fmt::Display for Internal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "src/db.rs panicked: cannot reach {SECRET}")
    }
}

impl std::error::Error for Internal {}

async fn greet(cx: Context) -> Result<String, HandlerError> {
    Ok(match cx.elicit::<Name>("user_name", "What is your name?").await? {
        FormAnswer::Accepted(Name { name, nick }) => format!("Hello, {}!", nick.unwrap_or(name)),
        FormAnswer::Declined => "As you like.".into(),
        FormAnswer::Cancelled => "Another time.".into(),
    })
}

/// Asks three questions at once, and then a fourth question.
async fn ask(cx: Context) -> Result<String, HandlerError> {
    let question = Sampling::new(50).message(PromptMessage::user("What is the capital?"));
    let (name, text, roots) =
        futures::join!(cx.elicit::<Name>("name", "Name?"), cx.sample("text", question), cx.roots("roots"));
    let (name, text, roots) = (name?, text?, roots?);
    let rounds: u32 = cx.step("count", &(), async || Ok(1)).await?;
    cx.elicit_url("page", "Sign in.", "https://example.com/sign-in").await?;
    let name = name.accepted().map(|name| name.name);
    Ok(format!("{name:?} {} {} {rounds}", text.text, roots.len()))
}

async fn work(cx: Context) -> String {
    cx.progress(1.0, Some(2.0), "begun");
    cx.log(LogLevel::Warning, "a warning");
    cx.progress(2.0, Some(2.0), "done");
    "worked".into()
}

fn tools() -> Vec<Tool> {
    let say = |words: Words| async move { Json(Said { said: words.text.repeat(words.times as usize) }) };
    let query = |query: Query| async move { format!("{} {}", query.region, query.shard) };
    let keep = |given: BTreeMap<String, serde_json::Value>, cx: Context| async move {
        cx.step("secret", &(), async || Ok(SECRET.to_owned())).await?;
        cx.elicit_url("page", "Sign in.", "https://example.com").await?;
        Ok::<_, HandlerError>(format!("{} kept", given.len()))
    };
    let link = || ResourceDescription::new("test://text", "text").title("Text");
    vec![
        Tool::new("say", "Says it.", say),
        Tool::new("greet", "Greets by name.", greet),
        Tool::new("ask", "Asks four questions.", ask),
        Tool::new("work", "Reports progress.", work),
        Tool::new("query", "Takes arguments that headers repeat.", query),
        Tool::new("keep", "Takes anything.", keep),
        Tool::new("refuse", "Refuses.", || async {
            Err::<(), _>(HandlerError::new("Not on Sundays.").because(SECRET))
        }),
        Tool::new("break", "Breaks.", || async { Err::<(), HandlerError>(Internal.into()) }),
        Tool::new("media", "Shows blocks that not every revision has.", move || async move {
            vec![Content::audio(b"wav", "audio/wav"), Content::link(link())]
        }),
        Tool::new("count", "Counts.", || async { Json(vec![1, 2, 3]) }),
    ]
}

/// Builds a server with items of every kind.
pub fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let analyze = |Code { code, lines }: Code| async move { format!("Analyze {code} ({lines:?})") };
    let introduce = |cx: Context| async move {
        let name = cx.elicit::<Name>("user_name", "Who?").await?.accepted();
        Ok::<_, HandlerError>(format!("For {}", name.map_or("an unknown client".into(), |name| name.name)))
    };
    let roots = |cx: Context| async move { Ok::<_, HandlerError>(cx.roots("roots").await?.len().to_string()) };
    let item = |given: BTreeMap<String, String>| async move {
        given.get("id").filter(|id| *id != "0").map(ToString::to_string)
    };
    tools()
        .into_iter()
        .fold(McpServer::builder("specimen", "1"), edge_mcp::McpServerBuilder::tool)
        .instructions("Say it once.")
        .page_size(NonZeroUsize::new(2).unwrap_or(NonZeroUsize::MIN))
        .logging(LogLevel::Info)
        .resource(Resource::new("test://text", || async { "plain" }).mime_type("text/plain"))
        .resource(Resource::new("test://bytes", || async { vec![0_u8, 255] }))
        .resource(Resource::new("test://broken", || async { Err::<String, HandlerError>(Internal.into()) }))
        .resource(Resource::new("test://roots", roots))
        .resource_template(
            ResourceTemplate::new("test://items/{id}", item).complete("id", Completion::fixed(["1", "2"])),
        )
        .resource_template(ResourceTemplate::new("test://files/{+path}", |_: BTreeMap<String, String>| async { "" }))
        .resource_template(ResourceTemplate::new("test://search{?q}", |_: BTreeMap<String, String>| async { "" }))
        .prompt(Prompt::new("analyze", |_: Code| async { "Analyze." }).version("v1"))
        .prompt(
            Prompt::new("analyze", analyze)
                .version("v2")
                .argument(PromptArgument::new("lines").title("Line count"))
                .complete("code", Completion::prefix(["rust", "ruby", "go"])),
        )
        .prompt(Prompt::new("introduce", introduce))
        .prompt(Prompt::new("break", || async { Err::<String, HandlerError>(Internal.into()) }))
        .build()
}

/// Returns the endpoint. It accepts [`TOKEN`].
pub fn endpoint() -> Endpoint {
    let tokens = format!(r#"[{{"token": "{TOKEN}", "subject": "ada", "scopes": []}}]"#);
    let mut limits = Limits::default();
    limits.body = MAX_BODY;
    testing::endpoint(server).auth(StaticTokens::from_json("T", Some(&tokens)).expect("tokens")).limits(limits)
}

/// A request with any texts and bytes, including those that an HTTP library rejects.
#[derive(Clone, Debug, Default)]
pub struct RawRequest {
    pub verb: String,
    pub url: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

impl RawRequest {
    /// Parses a line such as `POST /mcp`, one header per line, an empty line, and the body.
    pub fn parse(text: &[u8]) -> Self {
        let end = text.windows(2).position(|bytes| bytes == b"\n\n").unwrap_or(text.len());
        let body = text.get(end + 2..).unwrap_or_default().to_vec();
        let mut lines = text[..end].split(|byte| *byte == b'\n');
        let first = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
        let (verb, url) = first.split_once(' ').unwrap_or((&first, ""));
        let headers = lines.filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let value = line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..]);
            Some((String::from_utf8_lossy(&line[..colon]).into_owned(), value.to_vec()))
        });
        Self { headers: headers.collect(), verb: verb.into(), url: url.into(), body }
    }

    /// Returns the value of a header as the endpoint reads it. Several values are joined with commas.
    pub fn header(&self, name: &str) -> Option<String> {
        let named = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let values: Vec<Cow<'_, str>> = named.map(|(_, value)| String::from_utf8_lossy(value)).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

impl Request for RawRequest {
    fn method(&self) -> String {
        self.verb.clone()
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn header(&self, name: &str) -> Option<String> {
        self.header(name)
    }

    fn body(&self, limit: usize) -> impl Future<Output = Result<Vec<u8>, BodyError>> {
        let is_short = self.body.len() <= limit;
        std::future::ready(if is_short { Ok(self.body.clone()) } else { Err(BodyError::TooLarge) })
    }

    fn client_address(&self) -> Option<IpAddr> {
        Some(IpAddr::from([127, 0, 0, 1]))
    }

    /// Returns any text, because every request id of a host must fit into a log line.
    fn request_id(&self) -> Option<String> {
        self.header("Request-Id")
    }
}

/// Sends a request to `endpoint`. If the endpoint stalls without an answer, the status of the answer is 0.
pub fn ask_at(endpoint: &Endpoint, request: RawRequest) -> Answer {
    ask_on(&TestHost::new(), endpoint, request)
}

/// Sends a request to `endpoint` on this host, and checks that each log line is one line of JSON.
pub fn ask_on(host: &TestHost, endpoint: &Endpoint, request: RawRequest) -> Answer {
    let answer = testing::run(Client::new(endpoint).host(host).send(request));
    let (text, lines) = (host.log_text(), host.log());
    assert_eq!(text.lines().count(), lines.len(), "a log line is one line: {text}");
    assert!(lines.iter().all(serde_json::Value::is_object), "a log line is JSON: {text}");
    answer
}
