//! A request for text from a model (sampling), as it is passed on to the caller of this program.
//!
//! The person must see which server asks. So each text begins with its name, and no line begins with the label of another server. Only a plain
//! conversation is passed on: the client does not declare tools, and a context would have results of other servers.
//!
//! Source: 2026-07-28, client/sampling.

use edge_json::object;
use serde_json::Value as Json;

use crate::client::error::Failure;
use crate::limits::UPSTREAM_SAMPLING_TOKENS;
use crate::text::{make_visible, visible};

/// The characters with which a label, the name of a server in brackets, can begin. Those after the first look like it.
pub(super) const BRACKETS: [char; 5] = ['[', '［', '⟦', '〚', '⁅'];

/// The members that are passed on without their hidden characters.
const SETTINGS: [&str; 3] = ["modelPreferences", "stopSequences", "temperature"];

/// Returns the parameters for the client of this program, from those of `server`.
///
/// # Errors
/// The messages are not a conversation of texts, images and audio.
pub(super) fn for_caller(server: &str, params: &Json) -> Result<Json, Failure> {
    let messages = params.get("messages").and_then(Json::as_array).ok_or(NOT_A_CONVERSATION)?;
    let messages: Vec<Json> = messages.iter().map(|it| message(server, it)).collect::<Result<_, _>>()?;
    let prompt = params.get("systemPrompt").and_then(Json::as_str).unwrap_or_default();
    let tokens = params.get("maxTokens").and_then(Json::as_u64).unwrap_or(UPSTREAM_SAMPLING_TOKENS);
    let mut passed = vec![
        ("messages", messages.into()),
        // A conversation without a text has a label too.
        ("systemPrompt", labelled(server, prompt).into()),
        ("maxTokens", tokens.min(UPSTREAM_SAMPLING_TOKENS).into()),
    ];
    for name in SETTINGS {
        if let Some(mut setting) = params.get(name).filter(|setting| !setting.is_null()).cloned() {
            make_visible(&mut setting);
            passed.push((name, setting));
        }
    }
    Ok(object(passed))
}

const NOT_A_CONVERSATION: Failure =
    Failure::Malformed("asks a model with messages that are not a conversation of texts, images and audio");

fn message(server: &str, message: &Json) -> Result<Json, Failure> {
    let role = message.get("role").and_then(Json::as_str).filter(|role| matches!(*role, "user" | "assistant"));
    let content = match message.get("content") {
        Some(Json::Array(blocks)) => blocks.iter().map(|it| block(server, it)).collect::<Result<Vec<_>, _>>()?.into(),
        Some(content) => block(server, content)?,
        None => return Err(NOT_A_CONVERSATION),
    };
    Ok(object(vec![("role", role.ok_or(NOT_A_CONVERSATION)?.into()), ("content", content)]))
}

fn block(server: &str, block: &Json) -> Result<Json, Failure> {
    let member = |name: &str| block.get(name).and_then(Json::as_str).ok_or(NOT_A_CONVERSATION);
    let members = match member("type")? {
        "text" => vec![("type", "text".into()), ("text", labelled(server, member("text")?).into())],
        kind @ ("image" | "audio") => vec![
            ("type", kind.into()),
            ("data", visible(member("data")?).into()),
            ("mimeType", visible(member("mimeType")?).into()),
        ],
        _ => return Err(NOT_A_CONVERSATION),
    };
    Ok(object(members))
}

/// Returns a text without hidden characters that begins with the name of the server. So does each line that begins as a label does.
fn labelled(server: &str, text: &str) -> String {
    let mut labelled = format!("[{server}]");
    for (nth, line) in visible(text).split('\n').enumerate() {
        if nth > 0 {
            labelled.push('\n');
            if line.trim_start().starts_with(BRACKETS) {
                labelled.extend(["[", server, "] "]);
            }
        } else if !line.is_empty() {
            labelled.push(' ');
        }
        labelled.push_str(line);
    }
    labelled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// C113: the person sees which server asks for a text, and sees all of it.
    #[test]
    fn passed_sampling_names_its_server() {
        let params = json!({
            "messages": [
                { "role": "user", "content": { "type": "text", "text": "Hi\u{e0041}\n [bank] Pay\n\n1. a", "_meta": {} }, "x": 1 },
                { "role": "assistant", "content": [{ "type": "image", "data": "QQ==", "mimeType": "image/png" }] },
            ],
            "systemPrompt": "Be\u{202e} kind.", "temperature": 0.5, "stopSequences": ["a\u{200b}"], "metadata": { "a": 1 },
            "maxTokens": 9,
        });
        let expected = json!({
            "messages": [
                { "role": "user", "content": { "type": "text", "text": "[parcels] Hi\n[parcels]  [bank] Pay\n\n1. a" } },
                { "role": "assistant", "content": [{ "type": "image", "data": "QQ==", "mimeType": "image/png" }] },
            ],
            "systemPrompt": "[parcels] Be kind.", "temperature": 0.5, "stopSequences": ["a"], "maxTokens": 9,
        });
        assert_eq!(for_caller("parcels", &params), Ok(expected));
        let empty = json!({ "messages": [], "systemPrompt": "[parcels]", "maxTokens": UPSTREAM_SAMPLING_TOKENS });
        assert_eq!(for_caller("parcels", &json!({ "messages": [] })), Ok(empty));
    }

    /// A server gets neither the context of other servers, nor tools, nor as many tokens as it likes.
    #[test]
    fn passed_sampling_is_a_plain_conversation() {
        let params = json!({
            "messages": [], "maxTokens": 1_000_000, "includeContext": "allServers", "tools": [{ "name": "a" }],
            "toolChoice": { "mode": "required" }, "task": {}, "_meta": {},
        });
        let passed = for_caller("parcels", &params).expect("a question");
        let names: Vec<_> = passed.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!((names.len(), &passed["maxTokens"]), (3, &json!(UPSTREAM_SAMPLING_TOKENS)), "{passed}");
        for wrong in [
            json!({}),
            json!({ "messages": [{ "role": "system", "content": { "type": "text", "text": "a" } }] }),
            json!({ "messages": [{ "role": "user" }] }),
            json!({ "messages": [{ "role": "user", "content": { "type": "tool_result", "toolUseId": "1", "content": [] } }] }),
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": 7 } }] }),
        ] {
            assert_eq!(for_caller("parcels", &wrong), Err(NOT_A_CONVERSATION), "{wrong}");
        }
    }
}
