//! The tools with which a model finds and calls the tools that the catalogue does not list.
//!
//! All tools of many servers are too much for a model: each definition is in each conversation. Two tools replace them: one finds tools,
//! and one calls them. A search uses no data of other callers: it ranks the tools that this caller can see.

use std::rc::Rc;

use edge_json::write::ObjectWriter;
use edge_json::{Value, object};
use serde::Deserialize;

use super::found::found;
use super::servers::Gateway;
use super::tools::{read_only_tool_named, tool_named};
use crate::call::context::{CallTools, Context, unknown_tool};
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::engine::nested::call_tool;
use crate::limits::{FOUND_TOOLS, FOUND_TOOLS_BYTES, GATEWAY_QUERY};
use crate::server::list::ListKind;
use crate::server::tool::Tool;
use crate::words::query::Words;
use crate::words::score::{Headed, scores_among};

/// The tools of the catalogue.
const FIND: &str = "find-tools";
const CALL: &str = "call-tool";
const CALL_READ_ONLY: &str = "call-read-only-tool";

/// The note of a tool whose input schema is too long for a result.
const TOO_LONG: &str = "The input schema is too long for this list. Search for this tool with limit 1.";

/// The member of the arguments of [`CALL`] with the arguments of the other tool.
const ARGUMENTS: &str = "arguments";

#[derive(Deserialize)]
struct FindArguments {
    query: String,
    limit: Option<usize>,
}

/// Returns the tool of a name.
type ToolByName = fn(&Gateway, &str) -> Option<Tool>;

/// Returns the tools of the catalogue.
pub(super) fn tools(gateway: &Gateway) -> [Tool; 3] {
    let limit = |most: usize| {
        object(vec![
            ("type", "integer".into()),
            ("description", "Number of tools".into()),
            ("minimum", 1.into()),
            ("maximum", most.into()),
        ])
    };
    let text = |description: &str| object(vec![("type", "string".into()), ("description", description.into())]);
    let question = object(vec![
        ("type", "object".into()),
        (
            "properties",
            object(vec![("query", text("What the tool should do, in words")), ("limit", limit(FOUND_TOOLS))]),
        ),
        ("required", vec!["query"].into()),
    ]);
    let of_gateway = gateway.clone();
    let find = Tool::with_schema(
        FIND,
        "Finds tools of other servers by words. Returns their names, descriptions and input schemas. Call them with call-tool.",
        &question,
        None,
        move |arguments: FindArguments, cx: Context| find(of_gateway.clone(), arguments, cx),
    );
    let arguments = object(vec![("type", "object".into()), ("description", "As its input schema says".into())]);
    let call_schema = object(vec![
        ("type", "object".into()),
        ("properties", object(vec![("name", text("Name of the tool, from find-tools")), (ARGUMENTS, arguments)])),
        ("required", vec!["name"].into()),
    ]);
    let call = |name: &'static str, description: &'static str, named: ToolByName| {
        let (of_nested, of_request) = (gateway.clone(), gateway.clone());
        let mut tool = Tool::with_schema(
            name,
            description,
            &call_schema,
            None,
            move |arguments: serde_json::Value, cx: Context| nested(of_nested.clone(), arguments, named, cx),
        );
        tool.called = Some(Rc::new(move |arguments: Value<'_>| {
            let tool = named(&of_request, &arguments.string("name")?)?;
            Some(Tool { arguments_member: Some(ARGUMENTS), ..tool })
        }));
        tool
    };
    [
        find.title("Find tools").read_only().open_world(),
        call(CALL, "Calls a tool that find-tools returned.", tool_named)
            .title("Call a tool")
            .destructive()
            .open_world(),
        call(
            CALL_READ_ONLY,
            "Calls a tool that find-tools returned with readOnlyHint. It changes nothing.",
            read_only_tool_named,
        )
        .title("Call a read-only tool")
        .read_only()
        .open_world(),
    ]
}

/// Answers a search with a line of JSON for each tool.
async fn find(
    gateway: Gateway,
    FindArguments { query, limit }: FindArguments,
    cx: Context,
) -> Result<ToolResult, HandlerError> {
    let query = query.get(..query.floor_char_boundary(GATEWAY_QUERY)).unwrap_or_default();
    let words = Words::of(query);
    let all = found(&gateway, ListKind::Tools, &cx, |_, _| true).await;
    // A tool of this server takes precedence over a mounted tool with its name.
    let is_own = |tool: &Tool| cx.tools().is_some_and(|tools| tools.has_own_tool(tool.name()));
    let is_offered = |tool: &&Rc<Tool>| {
        tool.access.permits(cx.request()) && tool.app.is_none() && !tool.is_for_app_only() && !is_own(tool)
    };
    let offered: Vec<_> = all.tools.iter().filter(is_offered).collect();
    let headings: Vec<String> = offered.iter().map(|tool| heading(tool)).collect();
    let texts = offered.iter().zip(&headings).map(|(tool, heading)| Headed {
        path: heading,
        heading,
        text: tool.metadata.description.as_deref().unwrap_or_default(),
    });
    let scores = scores_among(&words, texts);
    let mut ranked: Vec<_> = offered.into_iter().zip(scores).filter(|(_, score)| *score > 0.0).collect();
    // Equal scores keep the order of the list.
    ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let ranked = ranked.into_iter().map(|(tool, _)| (gateway.mount_of(tool.name()).map(|(mount, _)| mount.nth), tool));
    let chosen = with_shares(ranked.collect(), limit.unwrap_or(FOUND_TOOLS.div_ceil(2)));
    let most = FOUND_TOOLS_BYTES.checked_div(chosen.len()).unwrap_or_default();
    let mut lines = Vec::new();
    for tool in chosen {
        lines.push(described(tool, most)?);
    }
    if lines.is_empty() {
        lines.push("No tool matches these words. Try other words.".to_owned());
    }
    lines.extend(all.problems().map(str::to_owned));
    Ok(ToolResult::new([lines.join("\n").into()]))
}

/// Returns `limit` items of a ranking. The first half are the best items. In the second half, the best item of each other party comes before the
/// rest. So a party with many items cannot push out those of another one.
fn with_shares<P: PartialEq, T>(mut ranked: Vec<(P, T)>, limit: usize) -> Vec<T> {
    let rest = ranked.split_off(ranked.len().min(limit.div_ceil(2)));
    let (mut chosen, mut others) = (ranked, Vec::new());
    for (party, item) in rest {
        let is_new = chosen.iter().all(|(known, _)| *known != party);
        if is_new { chosen.push((party, item)) } else { others.push((party, item)) }
    }
    chosen.into_iter().chain(others).map(|(_, item)| item).take(limit).collect()
}

/// Returns the name and the title of a tool, with the words of the name apart.
fn heading(tool: &Tool) -> String {
    let mut words = String::new();
    let mut before = ' ';
    for character in tool.name().chars() {
        if character.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push(' ');
        }
        words.push(if character.is_ascii_alphanumeric() { character } else { ' ' });
        before = character;
    }
    format!("{words} {}", tool.metadata.title.as_deref().unwrap_or_default())
}

/// Describes a tool in at most `most` bytes. A tool with a longer input schema has a note instead of the schema.
fn described(tool: &Tool, most: usize) -> Result<String, HandlerError> {
    let input = tool.input_schema().map_err(|error| HandlerError::new("A tool cannot be described.").because(error))?;
    let description = tool.metadata.description.as_deref().unwrap_or_default();
    let named = || {
        let line = ObjectWriter::new().text("name", tool.name()).text("description", description);
        if tool.annotations.read_only_hint == Some(true) { line.json("readOnlyHint", "true") } else { line }
    };
    let line = named().json("inputSchema", input.json().get()).finish();
    Ok(if line.len() > most { named().text("note", TOO_LONG).finish() } else { line })
}

/// Calls another tool for a handler of this server. A request of a client is resolved to the other tool before.
async fn nested(
    gateway: Gateway,
    arguments: serde_json::Value,
    named: ToolByName,
    cx: Context,
) -> Result<ToolResult, HandlerError> {
    let name = arguments.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
    let is_shown = |tools: &&Rc<dyn CallTools>, tool: &Tool| {
        tool.access.shows_to(cx.request()) && !tools.has_own_tool(tool.name())
    };
    let tool = cx.tools().and_then(|tools| Some((tools, named(&gateway, name).filter(|tool| is_shown(&tools, tool))?)));
    let Some((tools, tool)) = tool else { return Err(HandlerError::new(unknown_tool(name))) };
    let arguments = arguments.get(ARGUMENTS).cloned().unwrap_or_else(|| object(Vec::new()));
    call_tool(tools.clone(), &Rc::new(tool), arguments, &cx).await
}
