//! Fixtures of the conformance suite: tools and a prompt that ask the client and continue with its answer.

use edge_mcp::call::Sampling;
use edge_mcp::{Context, FormAnswer, HandlerError, Prompt, PromptMessage, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::conformance::FIXTURE;

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// Your name
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirmation {
    /// Whether to continue
    ok: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Color {
    /// A color that you like
    color: String,
}

#[derive(Deserialize, JsonSchema)]
struct Background {
    /// Background information for the prompt
    context: String,
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// The region to search
    #[schemars(extend("x-mcp-header" = "Region"))]
    #[serde(default)]
    region: String,
}

fn ask(question: &'static str, tokens: u32) -> Sampling {
    Sampling::new(tokens).message(PromptMessage::user(question))
}

/// Returns the answer, or an error if the person declined or cancelled.
fn answered<T>(answer: FormAnswer<T>) -> Result<T, HandlerError> {
    answer.accepted().ok_or_else(|| HandlerError::new("Nothing was done, because the question was not answered."))
}

async fn name(cx: Context) -> Result<String, HandlerError> {
    let Name { name } = answered(cx.elicit("user_name", "What is your name?").await?)?;
    Ok(format!("Hello, {name}!"))
}

async fn capital(cx: Context) -> Result<String, HandlerError> {
    let answer = cx.sample("capital_question", ask("What is the capital of France?", 100)).await?;
    Ok(format!("The model says: {}", answer.text))
}

async fn folders(cx: Context) -> Result<String, HandlerError> {
    let roots = cx.roots("client_roots").await?;
    Ok(roots.into_iter().map(|root| root.uri).collect::<Vec<_>>().join("\n"))
}

/// Stores the result of a step in the request state, for the second round.
async fn remembered(cx: Context) -> Result<String, HandlerError> {
    let earlier: String = cx.step("prepare", &(), async || Ok("state-ok".to_owned())).await?;
    let Confirmation { ok } = answered(cx.elicit("confirm", "Continue?").await?)?;
    Ok(format!("{earlier}, confirmed: {ok}"))
}

async fn several(cx: Context) -> Result<String, HandlerError> {
    let question = "What is your name?";
    let greeting = ask("Write a greeting.", 50);
    let (name, greeting, roots) = futures::join!(
        cx.elicit::<Name>("user_name", question),
        cx.sample("greeting", greeting),
        cx.roots("client_roots")
    );
    let Name { name } = answered(name?)?;
    Ok(format!("{} {name}, in {} folders", greeting?.text, roots?.len()))
}

async fn rounds(cx: Context) -> Result<String, HandlerError> {
    let Name { name } = answered(cx.elicit("step1", "What is your name?").await?)?;
    let Color { color } = answered(cx.elicit("step2", "Which color do you like?").await?)?;
    Ok(format!("{name} likes {color}"))
}

/// Sends two requests to the client, and returns a result even if the client supports neither of them.
async fn declared(cx: Context) -> Result<String, HandlerError> {
    let (name, text) = futures::join!(cx.elicit::<Name>("name", "Name?"), cx.sample("text", ask("Say hello.", 50)));
    Ok(match (name, text) {
        (Err(_), Err(_)) => "This client supports neither elicitation nor sampling.".into(),
        _ => "This client supports elicitation or sampling.".into(),
    })
}

pub(crate) fn tools() -> Vec<Tool> {
    [
        Tool::new("test_input_required_result_elicitation", FIXTURE, name),
        Tool::new("test_input_required_result_sampling", FIXTURE, capital),
        Tool::new("test_input_required_result_list_roots", FIXTURE, folders),
        Tool::new("test_input_required_result_request_state", FIXTURE, remembered),
        Tool::new("test_input_required_result_multiple_inputs", FIXTURE, several),
        Tool::new("test_input_required_result_multi_round", FIXTURE, rounds),
        Tool::new("test_input_required_result_tampered_state", FIXTURE, remembered),
        Tool::new("test_input_required_result_capabilities", FIXTURE, declared),
        Tool::new("test_missing_capability", FIXTURE, capital),
        Tool::new("test_streaming_elicitation", FIXTURE, name),
        Tool::new(
            "test_x_mcp_header",
            FIXTURE,
            |Place { region }: Place| async move { format!("Searching in {region:?}") },
        ),
    ]
    .map(|tool| tool.title("A fixture").read_only().closed_world())
    .into()
}

async fn context(cx: Context) -> Result<String, HandlerError> {
    let question = "Which background information should the prompt contain?";
    let background = cx.elicit::<Background>("user_context", question).await?;
    Ok(format!("Background: {}", background.accepted().map_or_else(String::new, |background| background.context)))
}

pub(crate) fn prompt() -> Prompt {
    Prompt::new("test_input_required_result_prompt", context).description(FIXTURE)
}
