//! The skills of this server. `scripts/skills` writes this file: do not edit it.

use edge_mcp::skills::{Catalog, File, Skill};

#[rustfmt::skip]
pub(crate) static SKILLS: Catalog = Catalog::new(&[
    Skill::new("skill://write-a-letter", r#"{"uri":"skill://write-a-letter/SKILL.md","frontmatter":{"name":"write-a-letter","description":"Writes a letter in the style of the house. Use it when a person asks for a letter.","license":"MIT OR Apache-2.0","metadata":{"version":"1"}},"resources":[{"uri":"skill://write-a-letter/SKILL.md","digest":"sha256:3c1abc423eb8cc5b24d4478bbbef2be72f7ba75a3df1aefbdc15827b2b5e7105","size":312},{"uri":"skill://write-a-letter/references/FORMS.md","digest":"sha256:dbf2eee5605ecb03740d6d2965be7dcfdc6756a307d20f809cdaef32fdf86d84","size":68}]}"#, &[
        File::text("skill://write-a-letter/SKILL.md", "text/markdown", include_str!("../skills/write-a-letter/SKILL.md")),
        File::text("skill://write-a-letter/references/FORMS.md", "text/markdown", include_str!("../skills/write-a-letter/references/FORMS.md")),
    ]),
]);

#[cfg(test)]
mod tests {
    #[test]
    fn entries_fit_their_files() {
        assert_eq!(super::SKILLS.check(), Ok(()));
    }
}
