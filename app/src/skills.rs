//! The skills of this server. `scripts/skills` writes this file: do not edit it.

use edge_mcp::skills::{Catalog, File, Skill};

#[rustfmt::skip]
pub(crate) static SKILLS: Catalog = Catalog::new(&[
    Skill::new("skill://edge-mcp/write-an-mcp-server", r#"{"uri":"skill://edge-mcp/write-an-mcp-server/SKILL.md","frontmatter":{"name":"write-an-mcp-server","description":"Writes MCP servers."},"resources":[{"uri":"skill://edge-mcp/write-an-mcp-server/SKILL.md","digest":"sha256:74e148632b165f26fc3bc8bc4f530de15f8cbc09e3b42991a764a3dfd433543e","size":75}]}"#, &[
        File::text("skill://edge-mcp/write-an-mcp-server/SKILL.md", "text/markdown", include_str!("../../skills/write-an-mcp-server/SKILL.md")),
    ]),
]);

#[cfg(test)]
mod tests {
    #[test]
    fn entries_fit_their_files() {
        assert_eq!(super::SKILLS.check(), Ok(()));
    }
}
