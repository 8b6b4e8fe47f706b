//! Calls that ask the client for input, and the request state that the client sends back in the next round.

use edge_mcp::auth::{AnyOf, PresentedToken, Principal, StateKeys, TokenRefusal};
use edge_mcp::call::{InputError, Sampling};
use edge_mcp::testing::TestHost;
use edge_mcp::{
    BuildError, Context, Endpoint, FormAnswer, HandlerError, McpServer, Prompt, PromptMessage, RequestInfo, Resource,
    StaticTokens, Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Answer, Ask, at_second, legacy, modern_as};

pub const KEY: &str = "an-example-key-of-at-least-32-bytes";
const TOKENS: &str = r#"[
    {"token": "ada", "subject": "ada", "scopes": []},
    {"token": "bob", "subject": "bob", "scopes": []}
]"#;

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// Your name
    #[schemars(length(min = 1, max = 20))]
    name: String,
    nick: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    article: String,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Nested {
    list: Vec<String>,
}

async fn greet(cx: Context) -> Result<String, HandlerError> {
    Ok(match cx.elicit::<Name>("user_name", "What is your name?").await? {
        FormAnswer::Accepted(Name { name, nick }) => {
            format!("Hello, {name}{}!", nick.map(|n| format!(" ({n})")).unwrap_or_default())
        }
        FormAnswer::Declined => "As you like.".into(),
        FormAnswer::Cancelled => "Another time.".into(),
    })
}

/// Asks three questions in one round, and a fourth in the next round.
async fn everything(order: Order, cx: Context) -> Result<String, HandlerError> {
    let question = Sampling::new(50).message(PromptMessage::user("What is the capital?"));
    let (name, text, roots) =
        futures::join!(cx.elicit::<Name>("name", "Name?"), cx.sample("text", question), cx.roots("roots"));
    let name = name?.accepted().map(|name| name.name).unwrap_or_default();
    let rounds: u32 = cx.step("count", &(), async || Ok(1)).await?;
    cx.elicit_url("page", "Sign in.", "https://example.com/sign-in").await?;
    let roots = roots?.into_iter().map(|root| root.uri).collect::<Vec<_>>().join(",");
    Ok(format!("{}: {name}, {}, {roots}, after {rounds}", order.article, text?.text))
}

async fn without(cx: Context) -> String {
    let answer: Result<FormAnswer<Name>, InputError> = cx.elicit("name", "Name?").await;
    answer.map_or_else(|error| format!("Hello, stranger: {}", error.needs_session()), |_| "Hello".into())
}

async fn prompt(cx: Context) -> Result<String, HandlerError> {
    let Some(Name { name, .. }) = cx.elicit("user_context", "Who?").await?.accepted() else {
        return Ok("No name".into());
    };
    Ok(format!("For {name}"))
}

async fn resource(cx: Context) -> Result<String, HandlerError> {
    let roots = cx.roots("client_roots").await?;
    Ok(roots.len().to_string())
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let nested =
        |cx: Context| async move { cx.elicit::<Nested>("list", "List?").await.map(|_| ()).map_err(HandlerError::from) };
    McpServer::builder("asker", "1")
        .tool(Tool::new("greet", "d", greet))
        .tool(Tool::new("everything", "d", everything))
        .tool(Tool::new("without", "d", without))
        .tool(Tool::new("nested", "d", nested))
        .prompt(Prompt::new("prompt", prompt))
        .resource(Resource::new("a://resource", resource))
        .build()
}

/// Returns an endpoint of `server` with these state keys.
pub fn endpoint_of(server: impl Fn(&RequestInfo) -> Result<McpServer, BuildError> + 'static, keys: &str) -> Endpoint {
    let keys = StateKeys::from_text("MCP_STATE_KEY", Some(keys)).expect("a key");
    Endpoint::new(server).auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens")).state_keys(keys)
}

fn endpoint() -> Endpoint {
    endpoint_of(server, KEY)
}

/// Returns a request of a client with these capabilities.
pub fn with_capabilities(capabilities: Value, method: &str, mut params: Value) -> Ask {
    let ask = modern_as(&json!(1), method, params.clone());
    let mut meta = crate::support::envelope();
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    params["_meta"] = meta;
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    ask.with_body(message.to_string())
}

pub fn ask_with(capabilities: Value, method: &str, params: Value, token: &str, endpoint: &Endpoint) -> Answer {
    with_capabilities(capabilities, method, params).bearer(token).ask_at(endpoint)
}

/// Returns the capabilities of a client that supports all kinds of questions.
pub fn all_capabilities() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

fn ask(method: &str, params: Value) -> Answer {
    ask_with(all_capabilities(), method, params, "ada", &endpoint())
}

/// Returns the parameters of the next round: those of the call, the answers, and the state of the round `first`.
pub fn retry(params: &Value, first: &Answer, responses: Value) -> Value {
    let mut params = params.clone();
    params["inputResponses"] = responses;
    params["requestState"] = first.result()["requestState"].clone();
    params
}

/// Returns `answer` as the answer to each question of the round `first`.
pub fn answer_all(first: &Answer, answer: &Value) -> Value {
    let questions = first.result()["inputRequests"].as_object().expect("questions");
    questions.keys().map(|key| (key.clone(), answer.clone())).collect::<serde_json::Map<_, _>>().into()
}

fn ada() -> Value {
    json!({ "user_name": { "action": "accept", "content": { "name": "Ada" } } })
}

/// Rules 23, 73 and 77: a question is sent with its form. Another instance can answer the next round, because the request contains
/// everything that is needed.
#[test]
fn any_instance_can_continue_after_a_question() {
    let params = json!({ "name": "greet" });
    let first = ask("tools/call", params.clone());
    let result = first.result();
    assert_eq!((&result["resultType"], result.get("ttlMs")), (&json!("input_required"), None));
    let form = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "Your name", "minLength": 1, "maxLength": 20 },
            "nick": { "type": "string" },
        },
        "required": ["name"],
    });
    let question = json!({ "mode": "form", "message": "What is your name?", "requestedSchema": form });
    assert_eq!(result["inputRequests"], json!({ "user_name": { "method": "elicitation/create", "params": question } }));
    for (responses, text) in [
        (ada(), "Hello, Ada!"),
        (json!({ "user_name": { "action": "accept", "content": { "name": "Ada", "nick": "A" } } }), "Hello, Ada (A)!"),
        (json!({ "user_name": { "action": "decline" } }), "As you like."),
        (json!({ "user_name": { "action": "cancel" }, "unasked": { "action": "accept" } }), "Another time."),
    ] {
        let answer = ask("tools/call", retry(&params, &first, responses));
        assert_eq!(answer.tool_text(), (text, false));
        assert_eq!(answer.result()["resultType"], "complete");
    }
}

/// Rules 73 and 78: a round can have several questions, and a later round can have more. The state keeps all answers. A question
/// without an answer is asked again.
#[test]
fn a_call_can_have_several_rounds() {
    let params = json!({ "name": "everything", "arguments": { "article": "tea" } });
    let first = ask("tools/call", params.clone());
    let questions = first.result()["inputRequests"].as_object().expect("questions");
    let methods: Vec<_> = questions
        .iter()
        .map(|(key, question)| (key.as_str(), question["method"].as_str().expect("a method")))
        .collect();
    let expected = [("name", "elicitation/create"), ("text", "sampling/createMessage"), ("roots", "roots/list")];
    assert_eq!(methods, expected);
    assert!(questions.values().all(|question| question.get("id").is_none() && question.get("jsonrpc").is_none()));

    let message = json!({ "role": "assistant", "content": { "type": "text", "text": "Paris" }, "model": "m" });
    let name = json!({ "action": "accept", "content": { "name": "Ada" } });
    let partly = ask("tools/call", retry(&params, &first, json!({ "name": name, "text": message })));
    let left: Vec<_> = partly.result()["inputRequests"].as_object().expect("questions").keys().cloned().collect();
    assert_eq!(left, ["roots"], "an answered question is not asked again");
    let roots = json!({ "roots": [{ "uri": "file:///a" }, { "uri": "file:///b", "name": "b" }] });
    let second = ask("tools/call", retry(&params, &partly, json!({ "roots": roots })));
    let page = &second.result()["inputRequests"]["page"]["params"];
    assert_eq!(*page, json!({ "mode": "url", "message": "Sign in.", "url": "https://example.com/sign-in" }));
    assert_ne!(second.result()["requestState"], partly.result()["requestState"]);
    let last = ask("tools/call", retry(&params, &second, json!({ "page": { "action": "accept" } })));
    assert_eq!(last.tool_text(), ("tea: Ada, Paris, file:///a,file:///b, after 1", false));
}

/// The state keeps every question of a round, so that all of them can be answered at once.
#[test]
fn all_questions_of_a_round_can_be_answered_at_once() {
    let params = json!({ "name": "everything", "arguments": { "article": "tea" } });
    let first = ask("tools/call", params.clone());
    let answers = json!({
        "name": { "action": "accept", "content": { "name": "Ada" } },
        "text": { "role": "assistant", "content": { "type": "text", "text": "Paris" }, "model": "m" },
        "roots": { "roots": [{ "uri": "file:///a" }] },
    });
    let second = ask("tools/call", retry(&params, &first, answers));
    let left: Vec<_> = second.result()["inputRequests"].as_object().expect("questions").keys().cloned().collect();
    assert_eq!(left, ["page"], "only the question of the next round is open");
}

/// Two validators may know the same subject. A state belongs to the caller of one of them.
#[test]
fn a_state_belongs_to_the_caller_of_one_validator() {
    async fn other(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        if presented.token() == "other" { Ok(Principal::new("ada")) } else { Err(TokenRefusal::Expired) }
    }
    let both = AnyOf::new().or(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens")).or(other);
    let endpoint = endpoint().auth(both);
    let ask = |params: Value, token: &str| ask_with(all_capabilities(), "tools/call", params, token, &endpoint);
    let params = json!({ "name": "greet" });
    let first = ask(params.clone(), "ada");
    assert_eq!(ask(retry(&params, &first, ada()), "other").refusal(), (200, -32602));
    assert_eq!(ask(retry(&params, &first, ada()), "ada").tool_text(), ("Hello, Ada!", false));
}

/// Rule 72: prompts and resources can also ask questions. Clients must not cache a result that depends on answers.
#[test]
fn prompts_and_resources_can_ask_questions() {
    let params = json!({ "name": "prompt" });
    let first = ask("prompts/get", params.clone());
    assert_eq!(first.result()["resultType"], "input_required");
    let answer = json!({ "user_context": { "action": "accept", "content": { "name": "Ada" } } });
    let second = ask("prompts/get", retry(&params, &first, answer));
    assert_eq!(second.result()["messages"][0]["content"]["text"], "For Ada");

    let params = json!({ "uri": "a://resource" });
    let first = ask("resources/read", params.clone());
    assert!(first.result().get("ttlMs").is_none(), "{first:?}");
    let second = ask("resources/read", retry(&params, &first, json!({ "client_roots": { "roots": [] } })));
    assert_eq!(second.result()["contents"][0]["text"], "0");
    assert_eq!((&second.result()["ttlMs"], &second.result()["cacheScope"]), (&json!(0), &json!("private")));
}

/// Rules 19, 20 and 74: a question needs a capability that the request itself declares. Declarations of earlier requests do not count.
#[test]
fn questions_need_a_capability_of_the_same_request() {
    let everything = json!({ "name": "everything", "arguments": { "article": "x" } });
    for (capabilities, method, params, needed) in [
        (json!({}), "tools/call", json!({ "name": "greet" }), json!({ "elicitation": { "form": {} } })),
        (
            json!({ "elicitation": { "url": {} } }),
            "tools/call",
            json!({ "name": "greet" }),
            json!({ "elicitation": { "form": {} } }),
        ),
        (
            json!({ "sampling": {}, "roots": {} }),
            "prompts/get",
            json!({ "name": "prompt" }),
            json!({ "elicitation": { "form": {} } }),
        ),
        (json!({ "elicitation": {} }), "resources/read", json!({ "uri": "a://resource" }), json!({ "roots": {} })),
        (
            json!({ "elicitation": [], "roots": true }),
            "resources/read",
            json!({ "uri": "a://resource" }),
            json!({ "roots": {} }),
        ),
    ] {
        assert_eq!(ask(method, params.clone()).status, 200, "with all capabilities the call works");
        let answer = ask_with(capabilities.clone(), method, params, "ada", &endpoint());
        assert_eq!(answer.refusal(), (400, -32021), "{capabilities} {method}");
        assert_eq!(answer.error()["data"], json!({ "requiredCapabilities": needed }));
    }
    let forms = ask_with(json!({ "elicitation": {} }), "tools/call", json!({ "name": "greet" }), "ada", &endpoint());
    assert_eq!(forms.result()["resultType"], "input_required", "`elicitation: {{}}` declares forms");
    let no_sampling = ask_with(json!({ "elicitation": {}, "roots": {} }), "tools/call", everything, "ada", &endpoint());
    assert_eq!(
        no_sampling.result()["inputRequests"].as_object().map(serde_json::Map::len),
        Some(2),
        "the other two questions are asked"
    );
}

/// Rules 78 and 79: an answer that is malformed or does not match its form is rejected.
#[test]
fn malformed_answers_are_rejected() {
    let params = json!({ "name": "greet" });
    let first = ask("tools/call", params.clone());
    for responses in [
        json!([]),
        json!("x"),
        json!({ "user_name": null }),
        json!({ "user_name": 12345 }),
        json!({ "user_name": "Ada" }),
        json!({ "user_name": [] }),
        json!({ "user_name": {} }),
        json!({ "user_name": { "action": "agree" } }),
        json!({ "user_name": { "action": 1 } }),
        json!({ "user_name": { "action": "accept" } }),
        json!({ "user_name": { "action": "accept", "content": [] } }),
        json!({ "user_name": { "action": "accept", "content": {} } }),
        json!({ "user_name": { "action": "accept", "content": { "name": 7 } } }),
        json!({ "user_name": { "action": "accept", "content": { "name": "" } } }),
    ] {
        let answer = ask("tools/call", retry(&params, &first, responses.clone()));
        assert_eq!(answer.refusal(), (200, -32602), "{responses}");
        assert!(answer.message().contains("inputResponses"), "{}", answer.message());
    }
    let more = json!({ "user_name": { "action": "accept", "content": { "name": "Ada", "more": 1 } } });
    let more = ask("tools/call", retry(&params, &first, more));
    assert_eq!(more.result()["resultType"], "complete", "a form does not forbid other members");
    let wrong_key = ask("tools/call", retry(&params, &first, json!({ "other": { "action": "accept" } })));
    assert_eq!(wrong_key.result()["resultType"], "input_required", "a question without an answer is asked again");
}

/// Rules 75 and 76: a state is rejected if any byte was changed, if it belongs to another caller or call, or if it is encrypted with
/// another key. The message is always the same.
#[test]
fn a_state_that_is_not_valid_for_the_call_is_rejected() {
    let params = json!({ "name": "everything", "arguments": { "article": "tea" } });
    let first = ask("tools/call", params.clone());
    let state = first.result()["requestState"].as_str().expect("a state").to_owned();
    let assert_rejected = |answer: Answer, case: &str| {
        assert_eq!(answer.refusal(), (200, -32602), "{case}");
        assert_eq!(answer.error()["data"], json!({ "reason": "invalid_request_state" }), "{case}");
        assert_eq!(
            answer.message(),
            "`params.requestState` is not valid for this call, or has expired. Call again without it."
        );
    };
    let with = |params: &Value, state: &str| {
        let mut params = params.clone();
        params["requestState"] = json!(state);
        params
    };
    for at in 0..state.len() {
        let mut bytes = state.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let flipped = String::from_utf8(bytes).expect("ASCII");
        assert_rejected(ask("tools/call", with(&params, &flipped)), &format!("byte {at}"));
    }
    let (_, sealed) = state.split_once('.').expect("a version");
    let by_foreign = endpoint_of(server, "another-key-of-at-least-32-bytes-here");
    let foreign = ask_with(all_capabilities(), "tools/call", params.clone(), "ada", &by_foreign);
    let foreign = foreign.result()["requestState"].as_str().expect("a state");
    for (case, other) in [
        ("empty", String::new()),
        ("truncated", state[..state.len() - 1].to_owned()),
        ("extended", format!("{state}A")),
        ("tampered", format!("{state}-TAMPERED")),
        ("padded", format!("{state}=")),
        ("without a version", sealed.to_owned()),
        ("of another version", format!("v1.{sealed}")),
        ("encrypted by another key", foreign.to_owned()),
        ("something else", "v2.e30".to_owned()),
    ] {
        assert_rejected(ask("tools/call", with(&params, &other)), case);
    }
    assert_rejected(
        ask_with(all_capabilities(), "tools/call", with(&params, &state), "bob", &endpoint()),
        "another caller",
    );
    let others = json!({ "name": "everything", "arguments": { "article": "coffee" } });
    assert_rejected(ask("tools/call", with(&others, &state)), "other arguments");
    assert_rejected(ask("tools/call", with(&json!({ "name": "greet" }), &state)), "another tool");
    assert_rejected(ask("prompts/get", with(&json!({ "name": "prompt" }), &state)), "another method");
    assert_eq!(ask("tools/call", with(&params, &state)).status, 200, "the state is valid for its own call");
    let number = ask("tools/call", {
        let mut p = params.clone();
        p["requestState"] = json!(7);
        p
    });
    assert_eq!(number.refusal(), (200, -32602));
}

/// A client cannot read the answers and the results of steps in the state.
#[test]
fn a_state_is_encrypted() {
    let secret = "the-account-number";
    let build = |_: &RequestInfo| {
        let tool = |cx: Context| async move {
            let account: String = cx.step("account", &(), async || Ok("the-account-number".to_owned())).await?;
            cx.elicit::<Name>("name", "Name?").await?;
            cx.elicit::<Name>("again", "And again?").await?;
            Ok::<_, HandlerError>(account)
        };
        McpServer::builder("s", "1").tool(Tool::new("greet", "d", tool)).build()
    };
    let endpoint = endpoint_of(build, KEY);
    let ask = |params: Value, token: &str| ask_with(all_capabilities(), "tools/call", params, token, &endpoint);
    let params = json!({ "name": "greet" });
    let first = ask(params.clone(), "ada");
    let answer = |key: &str| json!({ key: { "action": "accept", "content": { "name": "Ada" } } });
    let second = ask(retry(&params, &first, answer("name")), "ada");
    for round in [&first, &second] {
        let state = round.result()["requestState"].as_str().expect("a state");
        let bytes = base64_of(state.strip_prefix("v2.").expect("a state of this version"));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(secret) && !text.contains("Ada"), "{text}");
        for at in 0..state.len() {
            let mut bytes = state.to_owned().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let mut flipped = params.clone();
            flipped["requestState"] = json!(String::from_utf8(bytes).expect("ASCII"));
            assert_eq!(ask(flipped, "ada").refusal(), (200, -32602), "byte {at}");
        }
    }
    assert_eq!(ask(retry(&params, &second, answer("again")), "bob").refusal(), (200, -32602), "another caller");
    assert_eq!(ask(retry(&params, &second, answer("again")), "ada").tool_text(), (secret, false));
}

fn base64_of(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).expect("base64")
}

/// Rule 76: a state is valid for 600 s, or for the configured lifetime.
#[test]
fn a_state_expires() {
    let params = json!({ "name": "greet" });
    let first = ask("tools/call", params.clone());
    let later = |seconds| {
        let host = at_second(crate::support::NOW + seconds);
        let ask = modern_as(&json!(1), "tools/call", retry(&params, &first, ada()));
        ask.bearer("ada").ask_on(&endpoint(), &host)
    };
    assert_eq!(later(599).tool_text(), ("Hello, Ada!", false));
    assert_eq!(later(600).refusal(), (200, -32602));
    let keys =
        StateKeys::from_text("MCP_STATE_KEY", Some(KEY)).expect("a key").lifetime(std::time::Duration::from_secs(5));
    let short =
        Endpoint::new(server).auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens")).state_keys(keys);
    let first = ask_with(all_capabilities(), "tools/call", params.clone(), "ada", &short);
    let again = modern_as(&json!(1), "tools/call", retry(&params, &first, ada())).bearer("ada");
    assert_eq!(again.clone().ask_on(&short, &at_second(crate::support::NOW + 4)).status, 200);
    assert_eq!(again.ask_on(&short, &at_second(crate::support::NOW + 5)).refusal(), (200, -32602));
}

/// State keys can be rotated: the first key encrypts, and all keys decrypt.
#[test]
fn state_keys_can_be_rotated() {
    let of = |keys: &str| endpoint_of(server, keys);
    let newer = "a-newer-key-of-at-least-32-bytes-it-is";
    let params = json!({ "name": "greet" });
    let first = ask_with(all_capabilities(), "tools/call", params.clone(), "ada", &of(KEY));
    let again =
        |keys: &str| ask_with(all_capabilities(), "tools/call", retry(&params, &first, ada()), "ada", &of(keys));
    assert_eq!(again(&format!("{newer} {KEY}")).tool_text(), ("Hello, Ada!", false));
    assert_eq!(again(newer).refusal(), (200, -32602));
    for (keys, says) in [
        (None, "not set"),
        (Some(""), "not set"),
        (Some("short"), "32 bytes"),
        (Some("short an-example-key-of-at-least-32-bytes"), "32 bytes"),
    ] {
        let error = StateKeys::from_text("MCP_STATE_KEY", keys).err().expect("an error").to_string();
        assert!(error.contains("MCP_STATE_KEY") && error.contains(says) && !error.contains("short"), "{error}");
    }
}

/// Without a state key, only calls that ask a question fail. The log names the variable.
#[test]
fn only_questions_need_a_state_key() {
    let keyless = Endpoint::new(server).auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"));
    assert_eq!(modern_as(&json!(1), "tools/list", json!({})).bearer("ada").ask_at(&keyless).status, 200);
    let host = TestHost::new();
    let ask = with_capabilities(all_capabilities(), "tools/call", json!({ "name": "greet" }));
    let answer = ask.bearer("ada").ask_on(&keyless, &host);
    assert_eq!(answer.refusal(), (200, -32603));
    assert!(host.log_text().contains("MCP_STATE_KEY") && !answer.message().contains("MCP_STATE_KEY"));
}

/// Rule 80: a form must be flat. A question with a nested form is an internal error, and the log names the field.
#[test]
fn a_nested_form_is_an_internal_error() {
    let host = TestHost::new();
    let ask = with_capabilities(all_capabilities(), "tools/call", json!({ "name": "nested" }));
    let answer = ask.bearer("ada").ask_on(&endpoint(), &host);
    assert_eq!(answer.refusal(), (200, -32603));
    assert!(host.log_text().contains("`list`"), "{}", host.log_text());
}

/// Rule 98: in older revisions a question would need a session. A tool returns an error result, and prompts and resources return an
/// error. The request does not wait for an answer.
#[test]
fn clients_of_older_revisions_cannot_be_asked() {
    let ask = |method: &str, params: Value| legacy(method, params).bearer("ada").ask_at(&endpoint());
    let answer = ask("tools/call", json!({ "name": "greet" }));
    let (text, is_error) = answer.tool_text();
    assert!(is_error && text.contains("the client cannot be asked") && text.contains("2026-07-28"), "{text}");
    for (method, params, feature) in [
        ("prompts/get", json!({ "name": "prompt" }), "elicitation"),
        ("resources/read", json!({ "uri": "a://resource" }), "roots"),
    ] {
        let answer = ask(method, params);
        assert_eq!(answer.refusal(), (200, -32603), "{method}");
        let data = &answer.error()["data"];
        assert_eq!((&data["feature"], &data["mode"]), (&json!(feature), &json!("serverless")));
        assert!(data["reason"].is_string() && data["alternative"].is_string());
    }
    assert_eq!(ask("tools/call", json!({ "name": "without" })).tool_text(), ("Hello, stranger: true", false));
}
