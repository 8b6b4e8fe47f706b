//! Tests of links.

use super::links;
use crate::limits::{RAG_LINK_BYTES, RAG_LINKS};
use crate::rag::{resolve, work};
use edge_mcp_test_support::random::Random;

/// Returns the targets of the links of `text`, separated by spaces.
fn targets(text: &str) -> String {
    links(text).join(" ")
}

#[test]
fn links_of_all_kinds_are_found() {
    for (text, expected) in [
        ("[a](b.md)", "b.md"),
        (
            "# [a](b.md) and\n\n> [c](d.md)\n\n- [e](f.md)\n\n| g | h |\n|--|--|\n| [i](j.md) | |\n",
            "b.md d.md f.md j.md",
        ),
        ("[a](../b/c.md#d-e)", "../b/c.md"),
        ("[a](<b c.md> \"title\") [d]( e.md 'f') [g](h.md\n(i))", "b c.md e.md h.md"),
        ("[a](b(c).md) [d](e\\).md)", "b(c).md e).md"),
        ("[a [b] `]` c](d.md)", "d.md"),
        ("[](a.md)", "a.md"),
        ("[![b](c.png)](d.md) ![e](f.md)", "d.md"),
        ("<https://a.example/b> <kb://documents/tea#x>", "https://a.example/b kb://documents/tea"),
        ("<a@b.example> <a b:c> <:a> <b>", ""),
        ("[a][b], [B C][] and [b\n c].\n\n[b]: d.md\n[b c]: <e f.md> 'g'\n[b]: later.md\n", "d.md e f.md e f.md"),
        ("> [a]\n>\n> [a]: b.md#c\n", "b.md"),
        ("[a]: b.md\n", ""),
        ("[a]\n", ""),
        ("[^1]\n\n[^1]: note\n", ""),
        // Within the document, or not a link.
        ("[a](#b) [c]()", ""),
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
    assert_eq!(links(&"[a](b)".repeat(RAG_LINKS + 1)).len(), RAG_LINKS);
    let definitions: Vec<_> = (0..=RAG_LINKS).map(|number| format!("[l{number}]: d{number}.md")).collect();
    assert_eq!(targets(&format!("[l999] [l1000]\n\n{}", definitions.join("\n"))), "d999.md");
    let long = "a".repeat(RAG_LINK_BYTES);
    assert_eq!(links(&format!("[a]({long})")).len(), 1);
    assert_eq!(links(&format!("[a]({long}a)")).len(), 0);
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
        ("docs/tea.md", "", None),
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
            let (_, read) = work::counted(|| links(&text));
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
        for target in links(&text) {
            assert!(!target.is_empty() && !target.contains('#'), "{text:?}: {target:?}");
            let _ = resolve("a/b.md", &target);
        }
    }
}
