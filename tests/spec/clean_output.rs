//! `Tool::clean_output`: results without hidden characters.

use edge_mcp::testing::{self, Answer, Client};
use edge_mcp::{Content, HandlerError, McpServer, ResourceContents, ResourceDescription, Tool, ToolResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

/// A zero-width space, a tag character, a bidirectional override, and the beginning of a terminal sequence.
const HIDDEN: &str = "\u{200b}\u{e0041}\u{202e}\u{1b}";

fn answer(tool: Tool) -> Answer {
    let server = McpServer::builder("s", "1").tool(tool).build().expect("a server");
    let endpoint = testing::endpoint(move |_| Ok(server.clone()));
    testing::run(Client::new(&endpoint).call("t", json!({})))
}

fn returning(result: impl Fn() -> Result<ToolResult, HandlerError> + 'static) -> Tool {
    let result = std::rc::Rc::new(result);
    Tool::new("t", "d", move || {
        let result = result.clone();
        async move { result() }
    })
}

/// All texts are cleaned: blocks, the labels of links, embedded resources, structured content with its names, and `_meta`.
#[test]
fn all_texts_of_a_result_are_cleaned() {
    let result = || {
        // A member with a hidden character in its name is left out, because it could become another one.
        let structured = r#"{"a\u200b": 1, "a": ["b\u202e"], "ok": "\u00e9\n\t"}"#;
        let structured = RawValue::from_string(structured.to_owned())?;
        let link = ResourceDescription::new("https://example.com/a", format!("name{HIDDEN}")).description(HIDDEN);
        let blocks = [
            Content::text(format!("one\n\ttwo{HIDDEN} three\u{a0}four")),
            Content::link(link),
            Content::resource(ResourceContents::text("a://b", format!("inner{HIDDEN}"))),
            Content::image(b"\xff\x00", "image/png"),
        ];
        Ok(ToolResult::structured(&structured)?
            .content(blocks)
            .meta("example.com/a", json!(HIDDEN))
            .meta(HIDDEN, json!(1)))
    };
    let clean = answer(returning(result).clean_output());
    let blocks = &clean.result()["content"];
    assert_eq!(blocks[0]["text"], "one\n\ttwo three four");
    assert_eq!((&blocks[1]["name"], &blocks[1]["description"]), (&json!("name"), &json!("")));
    assert_eq!(blocks[2]["resource"]["text"], "inner");
    assert_eq!(blocks[3]["data"], answer(returning(result)).result()["content"][3]["data"]);
    assert_eq!(clean.structured(), &json!({ "a": ["b"], "ok": "é\n\t" }));
    assert_eq!(clean.result()["_meta"]["example.com/a"], "");
    assert!(clean.result()["_meta"].get(HIDDEN).is_none());
    assert!(!format!("{clean:?}").contains('\u{200b}'));
    assert!(answer(returning(result)).text().contains(HIDDEN), "without clean_output, a result stays as it is");
}

/// Numbers keep their digits.
#[test]
fn numbers_keep_their_digits() {
    let result = || Ok(ToolResult::structured(&json!({ "n": 9_007_199_254_740_993_u64, "text": HIDDEN }))?.content([]));
    let clean = answer(returning(result).clean_output());
    assert_eq!(clean.structured(), &json!({ "n": 9_007_199_254_740_993_u64, "text": "" }));
}

/// Errors are cleaned too, because a handler may repeat what others wrote.
#[test]
fn errors_are_cleaned() {
    for tool in [
        returning(|| Err(HandlerError::new(format!("It says {HIDDEN}no.")))),
        returning(|| Ok(ToolResult::failure(format!("It says {HIDDEN}no.")))),
    ] {
        let answer = answer(tool.clean_output());
        assert!(answer.is_error());
        assert_eq!(answer.text(), "It says no.");
    }
}

/// The output schema is checked for the result that the client gets.
#[test]
fn the_schema_is_checked_after_the_cleaning() {
    #[derive(Serialize, JsonSchema)]
    struct Named {
        #[schemars(length(min = 1))]
        name: String,
    }
    for (name, is_error) in [(format!("a{HIDDEN}"), false), (HIDDEN.to_owned(), true)] {
        let tool = Tool::new("t", "d", move || {
            let name = name.clone();
            async move { edge_mcp::Json(Named { name }) }
        });
        assert_eq!(answer(tool.clean_output()).is_error(), is_error);
    }
}

/// A result that cannot be cleaned is not sent: one that is nested too deeply, or whose members occur twice.
#[test]
fn a_result_that_cannot_be_cleaned_is_not_sent() {
    let deep = format!("{}\"{HIDDEN}\"{}", "[".repeat(122), "]".repeat(122)).replace('\u{1b}', "");
    let twice = format!(r#"{{"a":1,"a":"{HIDDEN}"}}"#).replace('\u{1b}', "");
    for json in [format!(r#"{{"a":{deep}}}"#), twice] {
        let result = move || {
            let structured = RawValue::from_string(json.clone())?;
            Ok(ToolResult::structured(&structured)?.content([]))
        };
        let answer = answer(returning(result).clean_output());
        let expected =
            "The tool returned output that cannot be cleaned. This is a fault of the server. Its log has the details.";
        assert_eq!((answer.text(), answer.is_error()), (expected, true));
    }
}
