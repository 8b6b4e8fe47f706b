//! A tool that reads the skills of a server.

use std::collections::BTreeMap;

use edge_mcp::client::Definition;
use edge_mcp::{Context, HandlerError, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::peer;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct SkillsArguments {
    server: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct SkillsResult {
    /// The text of each file by its URI, or its number of bytes. A folder has the URIs in it.
    files: BTreeMap<String, String>,
    left_out: Vec<String>,
}

/// Lists the skills, and reads their files and folders.
pub(crate) async fn skills(
    SkillsArguments { server }: SkillsArguments,
    cx: Context,
) -> Result<Json<SkillsResult>, HandlerError> {
    let peer = peer(&server, &cx)?;
    let listing = peer.list_skills().await?;
    let mut files = BTreeMap::new();
    for listed in &listing.items {
        let skill = peer.get_skill(listed.uri()).await?;
        for file in skill.files().unwrap_or_default() {
            let content = peer.read_skill(&skill, &file.uri).await?;
            let shown = content.text().map_or_else(|| format!("{} bytes", content.bytes.len()), str::to_owned);
            files.insert(content.uri, shown);
        }
        let folder = skill.uri().trim_end_matches("/SKILL.md");
        let children = peer.read_skill_directory(folder).await?;
        let uris: Vec<_> = children.items.iter().map(Definition::name).collect();
        files.insert(folder.to_owned(), uris.join(" "));
    }
    Ok(Json(SkillsResult { files, left_out: listing.left_out }))
}
