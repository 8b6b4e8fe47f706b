//! The scenarios: one function for each name in the suite. The server of a scenario checks the requests of its function.

use edge_mcp::client::{Definition, Failure, Peer};
use futures::try_join;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::{Failed, Program, browser};

/// Runs the scenario `name`. `data` is the data that the suite provides for it.
pub(crate) async fn run(name: &str, program: &Program, data: &Value) -> Result<(), Failed> {
    let peer = program.client.connect(&program.cx).server("suite")?;
    match name {
        "initialize"
        | "json-schema-ref-no-deref"
        | "request-metadata"
        | "auth/client-credentials-basic"
        | "auth/client-credentials-jwt" => list_tools(&peer).await,
        "tools_call" => tools_call(&peer).await,
        "elicitation-sep1034-client-defaults" => elicitation_defaults(&peer).await,
        "sse-retry" => sse_retry(&peer).await,
        "sep-2322-client-request-state" => request_state(&peer).await,
        "http-standard-headers" => standard_headers(&peer).await,
        "http-custom-headers" => custom_headers(&peer, data).await,
        "http-invalid-tool-headers" => invalid_tool_headers(&peer).await,
        "sep-2640-client-no-prefetch" => list_skills(&peer).await,
        name if name.starts_with("sep-2640-client-verify-") => changed_skill(&peer).await,
        "json-schema-2020-12-preservation" => schema_preservation(&peer).await,
        name if name.starts_with("auth/") => signed_in(program).await,
        name => Err(format!("this client has no scenario `{name}`").into()),
    }
}

/// The server checks `initialize`, the `_meta` and the headers of each request, the credentials, or that the client does not fetch the `$ref`
/// of a schema.
async fn list_tools(peer: &Peer) -> Result<(), Failed> {
    peer.list_tools().await?;
    Ok(())
}

/// A person signs in whenever the server requires it, and the client calls a tool. The server checks the requests of the client and of the
/// browser.
async fn signed_in(program: &Program) -> Result<(), Failed> {
    /// More than a server may require.
    const SIGN_INS: usize = 6;
    let Program { client, sign_in, host, cx } = program;
    for _ in 0..SIGN_INS {
        let peer = client.connect(cx).server("suite")?;
        let called = async {
            peer.list_tools().await?;
            peer.call("test-tool", json!({})).await
        };
        let Err(error) = called.await else { return Ok(()) };
        let Failure::SignInRequired { url } = error.failure() else { return Err(error.into()) };
        browser::open(url, sign_in, client, host).await?;
    }
    Err("the server requires too many sign-ins".into())
}

async fn tools_call(peer: &Peer) -> Result<(), Failed> {
    peer.list_tools().await?;
    let result = peer.call("add_numbers", json!({ "a": 2, "b": 3 })).await?;
    expect(&result.text(), "The sum of 2 and 3 is 5")
}

/// The server asks for the fields of a form that all have defaults. The answer has these defaults.
async fn elicitation_defaults(peer: &Peer) -> Result<(), Failed> {
    peer.call("test_client_elicitation_defaults", json!({})).await?;
    Ok(())
}

/// The server closes the stream of its answer. The client requests the rest after the time that the server states.
async fn sse_retry(peer: &Peer) -> Result<(), Failed> {
    let result = peer.call("test_reconnection", json!({})).await?;
    expect(&result.text(), "Reconnection test completed successfully")
}

/// Two tools ask the client, with and without a request state. Parallel calls have neither their answers nor their state.
async fn request_state(peer: &Peer) -> Result<(), Failed> {
    let call = async |name: &str, text: &str| expect(&peer.call(name, json!({})).await?.text(), text);
    try_join!(
        call("test_mrtr_echo_state", "echo-state-ok"),
        call("test_mrtr_no_state", "no-state-ok"),
        call("test_mrtr_unrelated", "unrelated-ok"),
        call("test_mrtr_no_result_type", "no-result-type-test-ok"),
    )?;
    Ok(())
}

async fn standard_headers(peer: &Peer) -> Result<(), Failed> {
    for tool in peer.list_tools().await?.items {
        peer.call(tool.name(), json!({})).await?;
    }
    for resource in peer.list_resources().await?.items {
        peer.read_resource(resource.name()).await?;
    }
    for prompt in peer.list_prompts().await?.items {
        peer.get_prompt(prompt.name(), json!({})).await?;
    }
    Ok(())
}

/// The suite provides the calls.
async fn custom_headers(peer: &Peer, data: &Value) -> Result<(), Failed> {
    peer.list_tools().await?;
    for call in data["toolCalls"].as_array().ok_or("the suite provides no calls")? {
        peer.call(call["name"].as_str().unwrap_or_default(), &call["arguments"]).await?;
    }
    Ok(())
}

/// The list has one valid tool. The client leaves out the others, because their headers are not valid.
async fn invalid_tool_headers(peer: &Peer) -> Result<(), Failed> {
    for tool in peer.list_tools().await?.items {
        peer.call(tool.name(), json!({ "region": "us-west1" })).await?;
    }
    Ok(())
}

/// The client sends a schema back, as it received it.
async fn schema_preservation(peer: &Peer) -> Result<(), Failed> {
    let tools = peer.list_tools().await?;
    let tool = tools.items.iter().find(|tool| tool.name() == "json_schema_2020_12_tool");
    let schema = tool.and_then(Definition::input_schema).ok_or("the tool is not listed")?;
    let schema = RawValue::from_string(schema.to_owned())?;
    let result = peer.call("json_schema_echo", json!({ "schema": schema })).await?;
    expect(&result.text(), "echoed")
}

/// The server checks that the client reads no file before the program asks for it.
async fn list_skills(peer: &Peer) -> Result<(), Failed> {
    peer.list_skills().await?;
    Ok(())
}

/// The server sends a `SKILL.md` that does not fit its entry. A client that takes it would read the next file of the skill.
async fn changed_skill(peer: &Peer) -> Result<(), Failed> {
    let skills = peer.list_skills().await?;
    let skill = skills.items.first().ok_or("the server lists no skill")?;
    match peer.read_skill(skill, "SKILL.md").await {
        Ok(_) => drop(peer.read_skill(skill, "references/FORMS.md").await?),
        Err(error) if matches!(error.failure(), Failure::Unverified(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn expect(text: &str, expected: &str) -> Result<(), Failed> {
    if text == expected { Ok(()) } else { Err(format!("expected {expected:?}, got {text:?}").into()) }
}
