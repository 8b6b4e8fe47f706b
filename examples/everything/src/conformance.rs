//! Fixtures of the official conformance suite. The suite prescribes their names.

use std::collections::BTreeMap;

use edge_mcp::protocol::LogLevel;
use edge_mcp::{
    Completion, Content, Context, HandlerError, Prompt, PromptArgument, PromptMessage, Resource, ResourceContents,
    ResourceTemplate, Tool,
};
use serde_json::{Value, json};

use crate::tools::{PIXEL, SILENCE};

fn note(uri: &str, text: &str) -> Content {
    Content::resource(ResourceContents::text(uri, text).mime_type("text/plain"))
}

fn mixed() -> Vec<Content> {
    let data = ResourceContents::text("test://mixed-content-resource", r#"{"test":"data","value":123}"#);
    vec![
        Content::text("Multiple content types test:"),
        Content::image(PIXEL, "image/png"),
        Content::resource(data.mime_type("application/json")),
    ]
}

async fn progress(cx: Context) -> &'static str {
    for done in [0.0, 50.0, 100.0] {
        cx.progress(done, Some(100.0), "");
    }
    "Done"
}

async fn logging(cx: Context) -> &'static str {
    for step in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        cx.log(LogLevel::Info, step);
    }
    "Done"
}

/// The description of each fixture.
pub(crate) const FIXTURE: &str = "A fixture of the conformance suite.";

async fn failing() -> Result<String, HandlerError> {
    Err(HandlerError::new("This tool intentionally returns an error for testing"))
}

pub(crate) fn tools() -> Vec<Tool> {
    let embedded = || async { note("test://embedded-resource", "This is an embedded resource content.") };
    [
        Tool::new("test_simple_text", FIXTURE, || async { "This is a simple text response for testing." }),
        Tool::new("test_image_content", FIXTURE, || async { Content::image(PIXEL, "image/png") }),
        Tool::new("test_audio_content", FIXTURE, || async { Content::audio(SILENCE, "audio/wav") }),
        Tool::new("test_embedded_resource", FIXTURE, embedded),
        Tool::new("test_multiple_content_types", FIXTURE, || async { mixed() }),
        Tool::new("test_error_handling", FIXTURE, failing),
        Tool::new("test_tool_with_progress", FIXTURE, progress),
        Tool::new("test_tool_with_logging", FIXTURE, logging),
        Tool::new("test_logging_tool", FIXTURE, logging),
    ]
    .into_iter()
    .chain([Tool::with_schema("json_schema_2020_12_tool", FIXTURE, &contact(), None, |contact: Value| async move {
        contact.to_string()
    })])
    .map(|tool| tool.title("A fixture").read_only().closed_world())
    .collect()
}

/// Returns a schema with keywords that generated schemas do not use.
fn contact() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

pub(crate) fn resources() -> Vec<Resource> {
    let text = || async { "This is the content of the static text resource." };
    [
        Resource::new("test://static-text", text).name("static-text").mime_type("text/plain"),
        Resource::new("test://static-binary", || async { PIXEL.to_vec() }).name("static-binary").mime_type("image/png"),
    ]
    .map(|resource| resource.description(FIXTURE))
    .into()
}

pub(crate) fn template() -> ResourceTemplate {
    let read = |variables: BTreeMap<String, String>| async move {
        let id = variables.get("id").map_or("", |id| id);
        format!(r#"{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}"#)
    };
    ResourceTemplate::new("test://template/{id}/data", read)
        .name("template")
        .description(FIXTURE)
        .mime_type("application/json")
}

pub(crate) fn prompts() -> Vec<Prompt> {
    let of = |given: &BTreeMap<String, String>, name: &str| given.get(name).cloned().unwrap_or_default();
    let arguments = move |given: BTreeMap<String, String>| async move {
        format!("Prompt with arguments: arg1='{}', arg2='{}'", of(&given, "arg1"), of(&given, "arg2"))
    };
    let embedded = move |given: BTreeMap<String, String>| async move {
        vec![
            PromptMessage::user(note(&of(&given, "resourceUri"), "Embedded resource content for testing.")),
            PromptMessage::user("Please process the embedded resource above."),
        ]
    };
    let picture = || async {
        vec![
            PromptMessage::user(Content::image(PIXEL, "image/png")),
            PromptMessage::user("Please analyze the image above."),
        ]
    };
    let required = |name: &'static str| PromptArgument::new(name).description("An argument").required();
    [
        Prompt::new("test_simple_prompt", || async { "This is a simple prompt for testing." }),
        Prompt::new("test_prompt_with_arguments", arguments)
            .argument(required("arg1"))
            .argument(required("arg2"))
            .complete("arg1", Completion::prefix(["paris", "park", "party"])),
        Prompt::new("test_prompt_with_embedded_resource", embedded).argument(required("resourceUri")),
        Prompt::new("test_prompt_with_image", picture),
    ]
    .map(|prompt| prompt.description(FIXTURE))
    .into()
}
