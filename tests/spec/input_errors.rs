//! Errors of questions, and the responses for them.

use edge_mcp::call::{InputError, Sampling};
use edge_mcp::testing::TestHost;
use edge_mcp::{
    BuildError, Completion, CompletionRequest, Context, Endpoint, HandlerError, McpServer, Prompt, RequestInfo,
    ResourceDescription, ResourceTemplate, ResultExt, Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::input_required::{KEY, all_capabilities, ask_with, endpoint_of, retry, with_capabilities};
use crate::support::{Answer, complete, legacy};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Volume {
    /// As a whisper
    Low,
    /// As a shout
    High,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Sound {
    name: String,
    volume: Option<Volume>,
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    id: String,
}

async fn first_then_second(cx: Context) -> Result<String, HandlerError> {
    let name = |answer: Option<Sound>| answer.map(|sound| sound.name).unwrap_or_default();
    let first = name(cx.elicit("first", "First?").await?.accepted());
    let second = name(cx.elicit("second", "Second?").await?.accepted());
    Ok(format!("{first}, {second}"))
}

/// Ignores the error of a question, and then fails for another reason.
async fn gives_up(cx: Context) -> Result<String, HandlerError> {
    cx.roots("folders").await.ok();
    Err(HandlerError::new("There is no paper."))
}

async fn one_key_for_two(cx: Context) -> Result<String, HandlerError> {
    let (first, second) = futures::join!(cx.elicit::<Sound>("key", "First?"), cx.elicit::<Sound>("key", "Second?"));
    first?;
    second?;
    Ok("Both".into())
}

async fn suggest(_: CompletionRequest, cx: Context) -> Result<Vec<String>, InputError> {
    cx.roots("folders").await.map(|_| Vec::new())
}

async fn list(cx: Context) -> Result<Vec<ResourceDescription>, HandlerError> {
    cx.roots("folders").await?;
    Ok(Vec::new())
}

#[derive(Deserialize, JsonSchema)]
struct Account {
    number: f64,
}

async fn transfer(account: Account, cx: Context) -> Result<String, HandlerError> {
    let answer = cx.elicit::<Sound>("sound", "Sure?").await?.accepted();
    Ok(format!("{} {}", account.number, answer.is_some()))
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let places = ResourceTemplate::new("place://{id}", |Place { id }| async move { id });
    McpServer::builder("asker", "1")
        .tool(Tool::new("rounds", "d", first_then_second))
        .tool(Tool::new("gives-up", "d", gives_up))
        .tool(Tool::new("transfer", "d", transfer))
        .tool(Tool::new("one-key", "d", one_key_for_two))
        .prompt(Prompt::new("place", |_: Place| async { "There" }).complete("id", Completion::with(suggest)))
        .resource_template(places.list(list))
        .build()
}

fn endpoint() -> Endpoint {
    endpoint_of(server, KEY)
}

fn ask(method: &str, params: Value) -> Answer {
    ask_with(all_capabilities(), method, params, "ada", &endpoint())
}

fn accept(key: &str, name: &str) -> Value {
    json!({ key: { "action": "accept", "content": { "name": name } } })
}

/// Rule 78: a later round cannot change the answer of an earlier one, because the handler has already acted on it.
#[test]
fn an_answer_cannot_be_changed_in_a_later_round() {
    let params = json!({ "name": "rounds" });
    let first = ask("tools/call", params.clone());
    let second = ask("tools/call", retry(&params, &first, accept("first", "Ada")));
    let mut responses = accept("second", "Bob");
    responses["first"] = accept("first", "Eve")["first"].clone();
    let last = ask("tools/call", retry(&params, &second, responses));
    assert_eq!(last.tool_text(), ("Ada, Bob", false));
}

/// Rule 75: a call with empty arguments equals a call without arguments.
#[test]
fn empty_arguments_can_be_omitted() {
    for (first, then) in [
        (json!({ "name": "rounds" }), json!({ "name": "rounds", "arguments": {} })),
        (json!({ "name": "rounds", "arguments": {} }), json!({ "name": "rounds" })),
    ] {
        let asked = ask("tools/call", first);
        let answer = ask("tools/call", retry(&then, &asked, accept("first", "Ada")));
        assert_eq!(answer.result()["resultType"], "input_required", "{answer:?}");
    }
}

/// Rule 75: a state is bound to the exact numbers of the arguments, in any notation.
#[test]
fn a_state_is_bound_to_exact_numbers() {
    let with = |number: Value| json!({ "name": "transfer", "arguments": { "number": number } });
    let first = ask("tools/call", with(json!(9_007_199_254_740_992_u64)));
    let then = |number: Value| ask("tools/call", retry(&with(number), &first, accept("sound", "Ada")));
    assert_eq!(then(json!(9_007_199_254_740_993_u64)).refusal(), (200, -32602));
    assert_eq!(then(json!(9_007_199_254_740_992.0)).tool_text(), ("9007199254740992 true", false));
}

/// If a handler ignores the error of a question and fails later, the caller gets the later error.
#[test]
fn a_later_failure_replaces_the_error_of_a_question() {
    let answer = ask_with(json!({}), "tools/call", json!({ "name": "gives-up" }), "ada", &endpoint());
    assert_eq!(answer.tool_text(), ("There is no paper.", true));
}

/// Two questions with one key in one round are an error, because the answers are identified by their keys.
#[test]
fn two_questions_cannot_share_a_key() {
    assert_eq!(ask("tools/call", json!({ "name": "one-key" })).refusal(), (200, -32603));
}

/// Rule 72: a question fails in methods whose results cannot carry it. The request does not wait.
#[test]
fn lists_and_completions_cannot_ask_questions() {
    assert_eq!(ask("completion/complete", complete("place", "id", "")).refusal(), (200, -32603));
    assert_eq!(ask("resources/list", json!({})).refusal(), (200, -32603));
}

/// Rule 80: an optional enum is a flat field of the form, with the titles of its variants.
#[test]
fn an_optional_enum_is_a_flat_form_field() {
    let asked = ask("tools/call", json!({ "name": "rounds" }));
    let volume = &asked.result()["inputRequests"]["first"]["params"]["requestedSchema"]["properties"]["volume"];
    let choices = json!([{ "const": "low", "title": "As a whisper" }, { "const": "high", "title": "As a shout" }]);
    assert_eq!((&volume["type"], &volume["oneOf"]), (&json!("string"), &choices), "{volume}");
}

async fn asks(kind: Kind, cx: Context) -> Result<String, HandlerError> {
    match kind.kind.as_str() {
        "form" => cx.elicit::<Sound>("q", "Which?").await.map(drop)?,
        "confirm" => cx.confirm("q", "Sure?").await.map(drop)?,
        "url" => cx.elicit_url("q", "Open it.", "https://example.com/").await.map(drop)?,
        "sampling" => cx.sample("q", Sampling::new(9)).await.map(drop)?,
        "roots" => cx.roots("q").await.map(drop)?,
        "message" => cx.confirm("q", "Sure?").await.map(drop).message("Ask Ada to delete it.")?,
        _ => cx.elicit::<Vec<Sound>>("q", "Which?").await.map(drop).message("The form is broken.")?,
    }
    Ok("asked".into())
}

#[derive(Deserialize, JsonSchema)]
struct Kind {
    kind: String,
}

/// Rules 74 and 98: the error of a client that cannot be asked says what could not be asked, that nothing was done, and which client can be
/// asked. In 2026-07-28 it has the code −32021. `message` replaces the sentence, and keeps the code and the data.
#[test]
fn the_error_of_an_unasked_question_says_which_client_can_be_asked() {
    let endpoint = endpoint_of(
        |_| {
            let prompt = Prompt::new("asks", asks);
            McpServer::builder("asker", "1").tool(Tool::new("asks", "d", asks)).prompt(prompt).build()
        },
        KEY,
    );
    let sentence = |subject: &str, declares: &str| {
        format!(
            "This call needs {subject}, and the client cannot be asked. Nothing that depends on it was done. Use a client of 2026-07-28 \
             that declares {declares}."
        )
    };
    let form = json!({ "elicitation": { "form": {} } });
    for (kind, expected, needed) in [
        ("form", sentence("the answer of a person", "form elicitation"), &form),
        ("confirm", sentence("the confirmation of a person", "form elicitation"), &form),
        (
            "url",
            sentence("a person who opens a web page", "elicitation with URLs"),
            &json!({ "elicitation": { "url": {} } }),
        ),
        ("sampling", sentence("a text from the model of the client", "sampling"), &json!({ "sampling": {} })),
        ("roots", sentence("the folders of the client", "roots"), &json!({ "roots": {} })),
        ("message", "Ask Ada to delete it.".to_owned(), &form),
    ] {
        let tool = json!({ "name": "asks", "arguments": { "kind": kind } });
        let modern = ask_with(json!({}), "tools/call", tool.clone(), "ada", &endpoint);
        assert_eq!((modern.refusal(), modern.message()), ((400, -32021), &*expected));
        assert_eq!(modern.error()["data"], json!({ "requiredCapabilities": needed }));
        let old = legacy("tools/call", tool).bearer("ada").ask_at(&endpoint);
        assert_eq!(old.tool_text(), (&*expected, true));
        let prompt = json!({ "name": "asks", "arguments": { "kind": kind } });
        let old = legacy("prompts/get", prompt).bearer("ada").ask_at(&endpoint);
        assert_eq!((old.refusal(), old.message()), ((200, -32603), &*expected));
        assert_eq!(old.error()["data"]["mode"], "serverless");
    }
    let host = TestHost::new();
    let ask = with_capabilities(
        all_capabilities(),
        "tools/call",
        json!({ "name": "asks", "arguments": { "kind": "broken" } }),
    );
    let broken = ask.bearer("ada").ask_on(&endpoint, &host);
    assert_eq!((broken.refusal(), broken.message()), ((200, -32603), "The form is broken."));
    assert!(!host.log_text().is_empty());
}
