//! The skills of this server. `scripts/skills` writes this file: do not edit it.

use edge_mcp::skills::{Catalog, File, Skill};

#[rustfmt::skip]
pub(crate) static SKILLS: Catalog = Catalog::new(&[
    Skill::new("skill://edge-mcp/write-an-mcp-server", r#"{"uri":"skill://edge-mcp/write-an-mcp-server/SKILL.md","frontmatter":{"name":"write-an-mcp-server","description":"Writes, changes, tests and deploys an MCP server in Rust on Cloudflare Workers with the crate edge-mcp. Use it when a project depends on edge-mcp, or when a person asks for a new MCP server and it may be in Rust.","license":"MIT OR Apache-2.0"},"resources":[{"uri":"skill://edge-mcp/write-an-mcp-server/SKILL.md","digest":"sha256:3e882f9d3f3394cde0ea22676db1e5df2de6c91435bca89a4e6dd6d783d86984","size":5273},{"uri":"skill://edge-mcp/write-an-mcp-server/references/DEPLOY.md","digest":"sha256:ba3dfb23894d4ef22dcc6e873590a0a584b169ab0e9f249712310e40c49dd154","size":3101},{"uri":"skill://edge-mcp/write-an-mcp-server/references/PORTING.md","digest":"sha256:c97f8369a4fff39ab7e8d3853351326f574b756ff0133a437a2998bcd6a590fc","size":2025},{"uri":"skill://edge-mcp/write-an-mcp-server/references/TESTING.md","digest":"sha256:7f648ef69af9823286ce98654242d666bc18b5d1ba59e30b850260ca25c4a3e8","size":2477},{"uri":"skill://edge-mcp/write-an-mcp-server/references/TOOLS.md","digest":"sha256:a24c8598aa489c8a6aa6e2f554a5104235d19e72359168e27244ebfc977ec851","size":4508}]}"#, &[
        File::text("skill://edge-mcp/write-an-mcp-server/SKILL.md", "text/markdown", include_str!("../../skills/write-an-mcp-server/SKILL.md")),
        File::text("skill://edge-mcp/write-an-mcp-server/references/DEPLOY.md", "text/markdown", include_str!("../../skills/write-an-mcp-server/references/DEPLOY.md")),
        File::text("skill://edge-mcp/write-an-mcp-server/references/PORTING.md", "text/markdown", include_str!("../../skills/write-an-mcp-server/references/PORTING.md")),
        File::text("skill://edge-mcp/write-an-mcp-server/references/TESTING.md", "text/markdown", include_str!("../../skills/write-an-mcp-server/references/TESTING.md")),
        File::text("skill://edge-mcp/write-an-mcp-server/references/TOOLS.md", "text/markdown", include_str!("../../skills/write-an-mcp-server/references/TOOLS.md")),
    ]),
]);

#[cfg(test)]
mod tests {
    #[test]
    fn entries_fit_their_files() {
        assert_eq!(super::SKILLS.check(), Ok(()));
    }
}
