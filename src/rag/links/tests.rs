//! Tests of links.

use super::{add_links, destinations};
use crate::limits::{RAG_LINK_BYTES, RAG_LINKS};
use crate::rag::{ChunkOptions, chunks, resolve};
use crate::words::work;
use edge_mcp_test_support::random::Random;

/// Returns the destinations of the links of `text`, separated by spaces.
fn targets(text: &str) -> String {
    destinations(text).into_iter().map(|(_, destination)| destination).collect::<Vec<_>>().join(" ")
}

#[test]
fn links_of_all_kinds_are_found() {
    for (text, expected) in [
        ("[a](b.md)", "b.md"),
        (
            "# [a](b.md) and\n\n> [c](d.md)\n\n- [e](f.md)\n\n| g | h |\n|--|--|\n| [i](j.md) | |\n",
            "b.md d.md f.md j.md",
        ),
        ("[a](../b/c.md#d-e)", "../b/c.md#d-e"),
        ("[a](<b c.md> \"title\") [d]( e.md 'f') [g](h.md\n(i))", "b c.md e.md h.md"),
        ("[a](b(c).md) [d](e\\).md)", "b(c).md e).md"),
        ("[a [b] `]` c](d.md)", "d.md"),
        ("[](a.md)", "a.md"),
        ("[![b](c.png)](d.md) ![e](f.md)", "d.md"),
        ("<https://a.example/b> <kb://documents/tea#x>", "https://a.example/b kb://documents/tea#x"),
        ("<a@b.example> <a b:c> <:a> <b>", ""),
        ("[a][b], [B C][] and [b\n c].\n\n[b]: d.md\n[b c]: <e f.md> 'g'\n[b]: later.md\n", "d.md e f.md e f.md"),
        ("> [a]\n>\n> [a]: b.md#c\n", "b.md#c"),
        ("[a]: b.md\n", ""),
        ("[a]\n", ""),
        ("[^1]\n\n[^1]: note\n", ""),
        // Within the document.
        ("[a](#b) [c]()", "#b"),
        // Not a link.
        ("[a](b c) [d] (e.md) \\[f](g.md) [h\\](i.md)", ""),
        ("[a](b.md", ""),
        ("a](b.md)", ""),
        // Code and comments.
        ("`[a](b.md)` ``[c](`d.md)`` `[e](f.md)", "f.md"),
        ("```\n[a](b.md)\n```\n\n    [c](d.md)\n\n<!-- [e](f.md) -->\n", ""),
        ("---\nsee: \"[a](b.md)\"\n---\n[c](d.md)", "d.md"),
        ("", ""),
    ] {
        assert_eq!(targets(text), expected, "{text}");
    }
}

#[test]
fn links_are_limited() {
    assert_eq!(destinations(&"[a](b)".repeat(RAG_LINKS + 1)).len(), RAG_LINKS);
    let definitions: Vec<_> = (0..=RAG_LINKS).map(|number| format!("[l{number}]: d{number}.md")).collect();
    assert_eq!(targets(&format!("[l999] [l1000]\n\n{}", definitions.join("\n"))), "d999.md");
    let long = "a".repeat(RAG_LINK_BYTES);
    assert_eq!(destinations(&format!("[a]({long})")).len(), 1);
    assert_eq!(destinations(&format!("[a]({long}a)")).len(), 0);
}

/// R85: a link belongs to the chunk that contains it, also if its destination is defined elsewhere.
#[test]
fn a_link_belongs_to_its_chunk() {
    let text = "# Tea\n\n[a](b.md) and [a](b.md), [A](b.md#C%20d)\n\n# [Pots](pots.md)\n\nSee [e], [f](xy:z).\n\n# End\n\n[e]: #tea\n\n# [Last](z.md)";
    let mut parts = chunks(text, &ChunkOptions::new());
    add_links(&mut parts, text, |target| {
        let itself = target.is_empty().then(|| "own.md".to_owned());
        itself.into_iter().chain(resolve("tea.md", target).filter(|_| !target.is_empty()))
    });
    let shown = |chunk: &crate::rag::Chunk| {
        let links =
            chunk.links.iter().map(|link| format!("{}#{}", link.document, link.section.as_deref().unwrap_or("-")));
        links.collect::<Vec<_>>().join(" ")
    };
    let shown: Vec<_> = parts.iter().map(shown).collect();
    assert_eq!(shown, ["b.md#- b.md#C d", "pots.md#- own.md#tea", "z.md#-"]);
    add_links(&mut [], text, |_| Some(String::new()));
}

#[test]
fn a_target_is_resolved() {
    for (base, target, expected) in [
        ("docs/tea.md", "pots.md", Some("docs/pots.md")),
        ("docs/tea.md", "./a/../b//c.md", Some("docs/b/c.md")),
        ("docs/tea.md", "../README.md?plain=1", Some("README.md")),
        ("tea.md", "pots.md", Some("pots.md")),
        ("docs/tea.md", "/a%20b%C3%A9.md", Some("a bé.md")),
        ("docs/tea.md", "../../x.md", None),
        ("docs/tea.md", "%2e%2e/%2e%2e/x.md", None),
        ("docs/tea.md", "a%2Fb.md", None),
        ("docs/tea.md", "%ff.md", None),
        ("docs/tea.md", "https://a.example", None),
        ("docs/tea.md", "mailto:a@b.example", None),
        ("docs/tea.md", "//a.example/b", None),
        ("docs/tea.md", "..", None),
        ("docs/tea.md", "", Some("docs/tea.md")),
        ("docs/tea.md", "?plain=1", Some("docs/tea.md")),
        ("docs/tea.md", "a:b.md", Some("docs/a:b.md")),
    ] {
        assert_eq!(resolve(base, target).as_deref(), expected, "{target}");
    }
}

/// R107: texts that are slow for a parser which looks for the end of a link again and again.
#[test]
fn hostile_texts_take_linear_work() {
    const HOSTILE: [&str; 22] = [
        "[",
        "]",
        "![",
        "](",
        "[](",
        "](a",
        "](<",
        "](a \"",
        "](a(",
        "](\\(",
        "](   ",
        "[a]: ",
        "[a]:b\n",
        "`",
        "``` ` `` ",
        "<a:",
        "<",
        "[a][",
        "[a]",
        "\\",
        "> ",
        "[[a]](b)",
    ];
    for part in HOSTILE {
        for size in [100, 20_000] {
            let text = part.repeat(size / part.len());
            let (_, read) = work::counted(|| destinations(&text));
            assert!(read <= 32 * (text.len() + 100), "{part}: {read} bytes read of {}", text.len());
        }
    }
}

#[test]
fn random_texts_do_not_panic() {
    const PARTS: [&str; 26] = [
        "[", "]", "(", ")", "<", ">", "!", "`", "``", "\\", ":", "#", "a", "é", "😀", " ", "\n", "\r\n", "a:", "[a]: ",
        "](b.md)", "[a]", "```\n", "    ", "> ", "\"",
    ];
    for seed in 0..10_000 {
        let mut random = Random::new(seed);
        let text: String = (0..random.below(30)).map(|_| random.one(&PARTS)).collect();
        let mut parts = chunks(&text, &ChunkOptions::new());
        add_links(&mut parts, &text, |target| {
            assert!(!target.contains('#'), "{text:?}: {target:?}");
            resolve("a/b.md", target)
        });
    }
}
