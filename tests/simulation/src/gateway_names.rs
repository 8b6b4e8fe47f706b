//! The names, the definitions and the secrets of the servers of a gateway, and the owners of their texts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::gateway_plan::{Kind, Tool};
use crate::ledger::mark;

/// The longest name of a tool, in bytes.
const LONGEST_NAME: usize = 48;
/// The page of an app, and its type.
pub const PAGE: &str = "ui://bank/form";
pub const PAGE_TYPE: &str = "text/html;profile=mcp-app";

/// Returns the text of a result.
pub fn done(kind: Kind, what: &str, number: u32) -> String {
    format!("<{}:{what}:{number}> {}", kind.name(), mark(&text_of(kind), "result"))
}

/// Returns the owner of the texts of a server.
pub fn text_of(kind: Kind) -> String {
    format!("text-{}", kind.name())
}

/// Returns the owner of what a caller sends to a server.
pub fn sent_to(caller: &str, kind: Kind) -> String {
    format!("{caller}-to-{}", kind.name())
}

/// Returns the token of a caller at a server.
pub fn token(kind: Kind, caller: &str) -> String {
    mark(&format!("{caller}-at-{}", kind.name()), "token")
}

/// Returns the token of the gateway at a server.
pub fn shared_token(kind: Kind) -> String {
    mark(kind.name(), "token")
}

/// Returns the definition of a tool. `version` is 1 until the server changes its definitions.
pub fn definition(kind: Kind, tool: Tool, version: u32) -> Value {
    let about = if tool == Tool::Work { kind.work() } else { "Belongs to the other tools" };
    let about = format!("{about}. Version {version}. {}", mark(&text_of(kind), "description"));
    let schema = json!({ "type": "object", "properties": { "number": { "type": "integer" } } });
    let mut definition = json!({ "name": tool.name(), "description": about, "inputSchema": schema });
    match tool {
        Tool::Show => definition["_meta"] = json!({ "ui": { "resourceUri": PAGE } }),
        Tool::Pay => definition["_meta"] = json!({ "ui": { "visibility": ["app"] } }),
        _ => {}
    }
    definition
}

/// Returns the digest of a definition, as `Gateway::pins` does.
pub fn digest(definition: &Value) -> String {
    let mut text = String::new();
    let pinned = ["annotations", "description", "inputSchema", "name", "outputSchema", "title"];
    write_members(definition, &pinned, &mut text);
    write_members(&definition["_meta"], &["ui"], &mut text);
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn write_members(value: &Value, names: &[&str], text: &mut String) {
    for name in names {
        if let Some(member) = value.get(name) {
            text.extend(["\"", name, "\":"]);
            write(member, text);
            text.push(',');
        }
    }
}

/// Writes the canonical form of a value.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut names: Vec<_> = members.keys().map(String::as_str).collect();
            names.sort_unstable();
            text.push('{');
            write_members(value, &names, text);
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

/// Returns the tools of a server that the program has pinned.
pub fn pinned(kind: Kind) -> &'static [Tool] {
    match kind {
        Kind::Bank => &[Tool::Pay, Tool::Long],
        Kind::Evil => &[Tool::Work, Tool::Long],
        _ => &[],
    }
}

/// Returns the name by which callers know the tool or the prompt `name` of a server, as docs/gateway.md describes it.
pub fn shown_name(kind: Kind, name: &str) -> String {
    let is_short = name.len() + kind.name().len() < LONGEST_NAME;
    if is_short && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)) {
        return format!("{}_{name}", kind.name());
    }
    let digest = Sha256::digest(format!("{}\0{name}", kind.name()));
    let hash = format!("{:08x}", u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]));
    let left = LONGEST_NAME - kind.name().len() - 1 - hash.len() - 1;
    let beginning: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' }).take(left).collect();
    format!("{}_{beginning}_{hash}", kind.name())
}
