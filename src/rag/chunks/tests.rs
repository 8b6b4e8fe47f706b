//! Tests of chunks: the blocks of Markdown, the sizes and frames of chunks, and the properties that hold for every document.

use std::fmt::Write;

use super::blocks::{BlockKind, blocks};
use super::front_matter::body;
use super::{Chunk, ChunkOptions, chunks, front_matter};
use crate::limits::RAG_HEADING_BYTES;
use crate::words::work;
use edge_mcp_test_support::random::Random;

/// Returns the chunks of `text`, each as its headings joined by ` > ` and its text.
fn read(text: &str) -> Vec<(String, String)> {
    chunks(text, &ChunkOptions::new()).into_iter().map(|chunk| (path(&chunk), chunk.text)).collect()
}

fn path(chunk: &Chunk) -> String {
    chunk.heading.join(" > ")
}

/// Returns the texts of the chunks of at most `size` bytes.
fn cut(text: &str, size: usize) -> Vec<String> {
    chunks(text, &ChunkOptions::new().size(size)).into_iter().map(|chunk| chunk.text).collect()
}

/// Returns the kinds and texts of the blocks of `text`.
fn kinds(text: &str) -> Vec<(&'static str, &str)> {
    let kind = |kind: &BlockKind| match kind {
        BlockKind::Heading { .. } => "heading",
        BlockKind::Text => "text",
        BlockKind::Quote => "quote",
        BlockKind::Table => "table",
        BlockKind::Code => "code",
        BlockKind::Fence(_) => "fence",
        BlockKind::Raw(_) => "raw",
    };
    blocks(text, body(text)).into_iter().map(|block| (kind(&block.kind), &text[block.range])).collect()
}

/// R55: the kinds of blocks.
#[test]
fn the_blocks_of_markdown() {
    for (text, expected) in [
        ("# A\ntext\n## B\n", &[("heading", "# A"), ("text", "text"), ("heading", "## B")][..]),
        ("A\nB\n===\nC\n-\nD", &[("heading", "A\nB\n==="), ("heading", "C\n-"), ("text", "D")]),
        ("a\n\n---\n\nb\n***\nc", &[("text", "a"), ("text", "---"), ("text", "b"), ("text", "***"), ("text", "c")]),
        ("```\n# a\n\n```\nb", &[("fence", "```\n# a\n\n```"), ("text", "b")]),
        ("````md\n```\n# a\n```\n````\nb", &[("fence", "````md\n```\n# a\n```\n````"), ("text", "b")]),
        ("~~~\n```\n~~~~\n", &[("fence", "~~~\n```\n~~~~")]),
        ("a\n```\n# open", &[("text", "a"), ("fence", "```\n# open")]),
        ("    # a\n\n    b\nc", &[("code", "    # a\n\n    b"), ("text", "c")]),
        ("\t# a", &[("code", "\t# a")]),
        ("a\n    b", &[("text", "a\n    b")]),
        (
            "a\n| b | c |\n|---|:-:|\n| d | e |\n\nf",
            &[("text", "a"), ("table", "| b | c |\n|---|:-:|\n| d | e |"), ("text", "f")],
        ),
        ("b | c\n--|--\nd | e\n# f", &[("table", "b | c\n--|--\nd | e"), ("heading", "# f")]),
        ("| b |\n|---|---|\n", &[("text", "| b |\n|---|---|")]),
        ("> a\n> # b\nlazy\n\n> c", &[("quote", "> a\n> # b\nlazy"), ("quote", "> c")]),
        ("> a\n# b", &[("quote", "> a"), ("heading", "# b")]),
        ("<!-- # a\n\n# b\n--> c\n# d", &[("raw", "<!-- # a\n\n# b\n--> c"), ("heading", "# d")]),
        ("<!-- a -->\n# b", &[("raw", "<!-- a -->"), ("heading", "# b")]),
        ("<!-- open\n\n# b", &[("raw", "<!-- open\n\n# b")]),
        ("<pre>\n\n# a\n</PRE>\nb", &[("raw", "<pre>\n\n# a\n</PRE>"), ("text", "b")]),
        (
            "- a\n\n  # b\n\n  c\n- d\n  - e\n\nf",
            &[("text", "- a\n\n  # b\n\n  c"), ("text", "- d\n  - e"), ("text", "f")],
        ),
        ("1. a\nlazy\n2. b\n# c", &[("text", "1. a\nlazy"), ("text", "2. b"), ("heading", "# c")]),
        ("a\n2. b\n- c", &[("text", "a\n2. b"), ("text", "- c")]),
        (
            "- a\n  ```sh\n  # b\n  ```\n  c\n- d",
            &[("text", "- a"), ("fence", "  ```sh\n  # b\n  ```"), ("text", "  c"), ("text", "- d")],
        ),
        ("- ```sh\n  # b\n  ```\nc", &[("fence", "- ```sh\n  # b\n  ```"), ("text", "c")]),
        ("- ```sh\n  # b\n# c", &[("fence", "- ```sh\n  # b"), ("heading", "# c")]),
        ("- a\n\n      code\n", &[("text", "- a"), ("code", "      code")]),
        ("- - ```\n    a\n    ```\n- b", &[("fence", "- - ```\n    a\n    ```"), ("text", "- b")]),
        ("- a\n---\n- b\n***", &[("text", "- a"), ("text", "---"), ("text", "- b"), ("text", "***")]),
        ("- a\n\nb\n===\n", &[("text", "- a"), ("heading", "b\n===")]),
        ("#hash\n####### seven\n\\# escaped", &[("text", "#hash\n####### seven\n\\# escaped")]),
        ("", &[]),
        (" \n\t\n", &[]),
    ] {
        assert_eq!(kinds(text), expected, "{text}");
    }
}

/// R55: front matter is not text.
#[test]
fn front_matter_is_no_chunk() {
    for (text, matter, expected) in [
        ("---\ntitle: Tea\n# comment\n---\n\n# A\n\nb", Some("title: Tea\n# comment\n"), "b"),
        ("\u{feff}---\r\ntitle: Tea\r\n...\r\nb", Some("title: Tea\r\n"), "b"),
        ("+++\ntitle = \"Tea\"\n+++\nb", Some("title = \"Tea\"\n"), "b"),
        ("---\ntitle: Tea\nb", None, "---\n\ntitle: Tea\nb"),
        ("---\n\na: b\n\n---", None, "---\n\na: b\n\n---"),
        ("---\nNo key here: b\n---", None, "---"),
        ("a\n---\nb: c\n---", None, "b: c"),
    ] {
        assert_eq!(front_matter(text), matter, "{text}");
        let texts: Vec<_> = chunks(text, &ChunkOptions::new()).into_iter().map(|chunk| chunk.text).collect();
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeeze(&texts.join("\n")).contains(&squeeze(expected)) || texts.is_empty(), "{text}: {texts:?}");
        assert!(matter.is_none() || texts == [expected], "{text}: {texts:?}");
    }
}

/// R56: a chunk has the path of its headings, and does not repeat them.
#[test]
fn the_path_of_a_chunk() {
    let text = "intro\n# A\na\n### C\nc\n## B ##\n```\n# no heading\n```\nb\n# D\n#\nd\n";
    let expected = [("", "intro"), ("A", "a"), ("A > C", "c"), ("A > B", "```\n# no heading\n```\nb"), ("", "d")];
    let read = read(text);
    assert_eq!(read.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>(), expected);
}

/// A long heading would be repeated with each chunk, so it is text.
#[test]
fn a_heading_that_is_too_long_is_text() {
    let long = "a".repeat(RAG_HEADING_BYTES + 1);
    assert_eq!(read(&format!("# {long}\nb")), [(String::new(), format!("# {long}\nb"))]);
    assert_eq!(read(&format!("{long}\n===\nb")), [(String::new(), format!("{long}\n===\nb"))]);
    assert_eq!(read(&format!("{long}\n---\nb")), [(String::new(), format!("{long}\n---\nb"))]);
    let long = "a".repeat(RAG_HEADING_BYTES);
    assert_eq!(read(&format!("# {long}\nb")), [(long, "b".to_owned())]);
}

/// R57: blocks are packed greedily, within their section.
#[test]
fn blocks_are_packed() {
    let block = "x".repeat(30);
    let text = format!("# A\n\n{block}\n\n{block}\n\n{block}\n\n# B\n\n# C\n\nshort\n");
    let expected = [format!("{block}\n\n{block}"), block.clone(), "short".to_owned()];
    assert_eq!(cut(&text, 64), expected);
    assert_eq!(cut(&text, 94), [format!("{block}\n\n{block}\n\n{block}"), "short".to_owned()]);
    assert_eq!(cut(&text, 93), expected);
}

/// Blocks that belong together are not separated if they fit into one chunk.
#[test]
fn lists_and_announced_blocks_stay_together() {
    let long = "x".repeat(40);
    let list = "Do this:\n\n1. one\n2. two\n\n   ```\n   code\n   ```\n3. three";
    assert_eq!(cut(&format!("{long}\n\n{list}"), 64), [long, list.to_owned()]);
}

/// R58: a long block is cut at lines, then at sentences, then at words, then at characters.
#[test]
fn long_blocks_are_cut() {
    let line = "x".repeat(39);
    assert_eq!(cut(&format!("{line}\n{line}\n{line}"), 80), [format!("{line}\n{line}"), line.clone()]);
    let sentence = |word: &str| format!("{}.", word.repeat(30));
    let (a, b, c) = (sentence("a"), sentence("b"), sentence("c"));
    assert_eq!(cut(&format!("{a} {b} {c}"), 64), [format!("{a} {b}"), c]);
    let words = ["word"; 40].join(" ");
    assert_eq!(
        cut(&words, 64),
        [["word"; 13].join(" "), ["word"; 13].join(" "), ["word"; 13].join(" "), "word".into()]
    );
    assert_eq!(cut(&"é".repeat(50), 65), ["é".repeat(32), "é".repeat(18)]);
    assert_eq!(
        cut(&format!("{}。{}。", "茶".repeat(15), "水".repeat(15)), 64),
        [format!("{}。", "茶".repeat(15)), format!("{}。", "水".repeat(15))]
    );
}

/// R58: each piece of a fence is a fence.
#[test]
fn a_cut_fence_is_reopened() {
    let code: Vec<_> = (0..6).map(|number| format!("line {number} {}", "x".repeat(10))).collect();
    let text = format!("Intro.\n\n```rust,ignore\n{}\n```\n\nOutro.", code.join("\n"));
    assert_eq!(
        cut(&text, 78),
        [
            format!("Intro.\n\n```rust,ignore\n{}\n{}\n```", code[0], code[1]),
            format!("```rust,ignore\n{}\n{}\n{}\n```", code[2], code[3], code[4]),
            format!("```rust,ignore\n{}\n```\n\nOutro.", code[5]),
        ]
    );
    // Without an end, the last piece has none either. In a list, the fences are indented.
    let text = format!("- ~~~~\n  {}", code.join("\n  "));
    assert_eq!(
        cut(&text, 64),
        [
            format!("- ~~~~\n  {}\n  {}\n  ~~~~", code[0], code[1]),
            format!("  ~~~~\n  {}\n  {}\n  ~~~~", code[2], code[3]),
            format!("  ~~~~\n  {}\n  {}", code[4], code[5]),
        ]
    );
    // A line that is too long is cut within the fence.
    let text = format!("```\n{}\n```", "y".repeat(100));
    assert_eq!(cut(&text, 64), [format!("```\n{}\n```", "y".repeat(56)), format!("```\n{}\n```", "y".repeat(44))]);
    // A frame that is too long is not repeated.
    let text = format!("``` {}\n{}\n```", "i".repeat(30), "y".repeat(60));
    assert_eq!(cut(&text, 64), [format!("``` {}", "i".repeat(30)), "y".repeat(60) + "\n```"]);
}

/// R58: each piece of a table has the header row.
#[test]
fn a_cut_table_repeats_its_header() {
    let row = |number: usize| format!("| {number} | {} |", "x".repeat(10));
    let rows: Vec<_> = (0..4).map(row).collect();
    let header = "| a | b |\n|---|---|";
    assert_eq!(
        cut(&format!("{header}\n{}\n\nThe end.", rows.join("\n")), 64),
        [
            format!("{header}\n{}\n{}", rows[0], rows[1]),
            format!("{header}\n{}\n{}", rows[2], rows[3]),
            "The end.".to_owned(),
        ]
    );
}

/// R59: a chunk repeats whole sentences of the same section.
#[test]
fn overlap_repeats_whole_sentences() {
    let text = "# A\n\nFirst one is here. Second one is here.\n\nThird one is here, and it is longer.\n\n# B\n\nOther.";
    let texts = |text: &str, options: ChunkOptions| {
        chunks(text, &options).into_iter().map(|chunk| chunk.text).collect::<Vec<_>>()
    };
    let (first, third) = ("First one is here. Second one is here.", "Third one is here, and it is longer.");
    let all = format!("{first}\n\n{third}");
    assert_eq!(texts(text, ChunkOptions::new().size(80).overlap(20)), [&all, "Other."]);
    assert_eq!(
        texts(text, ChunkOptions::new().size(70).overlap(99)),
        [first, third, "Other."],
        "17 bytes have no whole sentence"
    );
    let long = text.replace("longer", "longer than all the others");
    let options = ChunkOptions::new().size(88).overlap(22);
    let second = "Second one is here.\n\nThird one is here, and it is longer than all the others.";
    assert_eq!(texts(&long, options.clone()), [first, second, "Other."]);
    let range = chunks(&long, &options)[1].range.clone();
    assert!(long[range].starts_with("Third"), "the range has no overlap");
    // Code is not repeated.
    let code = "# A\n\n```\nOne. Two. Three. Four.\n```\n\nThe text after this code is too long for one chunk.";
    assert!(texts(code, ChunkOptions::new().size(80).overlap(20))[1].starts_with("The text"));
}

/// R61: plain text is one section.
#[test]
fn plain_text_is_one_section() {
    let text = "\u{feff}# a\n\n---\nb\n\n```\n# c\n";
    let chunks = chunks(text, &ChunkOptions::new().plain_text());
    assert_eq!(chunks.len(), 1);
    assert_eq!((chunks[0].heading.len(), chunks[0].text.as_str()), (0, "# a\n\n---\nb\n\n```\n# c"));
}

/// The hash depends on the headings and the text, and on where one ends.
#[test]
fn the_hash_of_a_chunk() {
    let hash = |heading: &[&str], text: &str| {
        let heading = heading.iter().map(|title| (*title).into()).collect();
        Chunk { heading, text: text.to_owned(), ..Chunk::default() }.hash()
    };
    let hashes = [
        hash(&[], "a"),
        hash(&["a"], ""),
        hash(&["a"], "b"),
        hash(&["b"], "a"),
        hash(&["a", "b"], ""),
        hash(&[], "ab"),
    ];
    for (at, one) in hashes.iter().enumerate() {
        assert_eq!(one.len(), 43);
        assert_eq!(hashes.iter().position(|other| other == one), Some(at));
    }
    // Stored hashes must stay valid, so the hash of a chunk never changes.
    assert_eq!(hashes[2], "PJ1ZEEW8iHb50Dmbv7BcakEglukG9zJ4-YQGzV3Kht8");
    let moved = Chunk { heading: vec!["a".into()], text: "b".into(), range: 7..8, ..Chunk::default() };
    assert_eq!(moved.hash(), hashes[2]);
}

/// Asserts the properties that the chunks of every document have (R57, R60).
fn check(text: &str, options: &ChunkOptions) -> Vec<Chunk> {
    let chunks = chunks(text, options);
    let mut is_covered = vec![false; text.len()];
    let mut end = 0;
    for Chunk { heading, text: own, range, .. } in &chunks {
        assert!(range.start >= end && range.end > range.start, "{range:?} after {end}");
        end = range.end;
        is_covered[range.clone()].fill(true);
        assert!(own.len() <= options.size, "{} bytes", own.len());
        assert!(!own.trim().is_empty());
        assert!(own.contains(&text[range.clone()]));
        assert!(heading.len() <= 6 && heading.iter().all(|title| title.len() <= RAG_HEADING_BYTES));
    }
    let start = if options.is_plain_text { super::byte_order_mark(text) } else { body(text) };
    is_covered[..start].fill(true);
    if !options.is_plain_text {
        for block in blocks(text, start).iter().filter(|block| matches!(block.kind, BlockKind::Heading { .. })) {
            assert!(!is_covered[block.range.clone()].contains(&true), "a heading is not in a chunk");
            is_covered[block.range.clone()].fill(true);
        }
    }
    for (at, character) in text.char_indices() {
        assert!(is_covered[at] || character.is_whitespace(), "byte {at} ({character:?}) is in no chunk");
    }
    chunks
}

/// Parts of documents. Joined at random, they form blocks that begin and end in many ways.
const PARTS: [&str; 48] = [
    "a",
    "word ",
    "Sentence. ",
    "茶。",
    "é",
    "😀",
    "\u{202e}",
    "\u{feff}",
    "\0",
    " ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u{a0}",
    "\u{2028}",
    "# A\n",
    "## B ##\n",
    "###### C\n",
    "#",
    "===\n",
    "---\n",
    "---",
    "+++\n",
    "***\n",
    "```",
    "```rust\n",
    "````\n",
    "~~~\n",
    "`",
    "- item\n",
    "  - inner\n",
    "1. one\n",
    "- ",
    "> quote\n",
    ">",
    "| a | b |\n",
    "|---|---|\n",
    "|",
    "<!--",
    "-->",
    "<pre>",
    "</pre>",
    "key: value\n",
    "a long line that is cut because it has more bytes than a chunk may have. Yes.\n",
    "[link](x.md)",
];

/// R60: the properties hold for random documents, with and without overlap.
#[test]
fn random_documents_are_covered() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let text: String = (0..random.below(60)).map(|_| random.one(&PARTS)).collect();
        for options in [
            ChunkOptions::new().size(64),
            ChunkOptions::new().size(64 + random.below(100)).overlap(random.below(40)),
            ChunkOptions::new(),
            ChunkOptions::new().size(64).plain_text(),
        ] {
            check(&text, &options);
        }
    }
}

/// A document of about the given size in bytes.
type Hostile = fn(usize) -> String;

/// R60, R107: documents that are slow for a scanner which reads text again and again, or that hide its end.
const HOSTILE: [Hostile; 36] = [
    |n| "#".repeat(n),
    |n| "`".repeat(n),
    |n| "a".repeat(n),
    |n| " ".repeat(n) + "a",
    |n| "\n".repeat(n) + "a",
    |n| "\r".repeat(n),
    |n| "\u{202e}".repeat(n / 3),
    |n| "\u{feff}".repeat(n / 3),
    |n| "-".repeat(n),
    |n| "=".repeat(n),
    |n| ">".repeat(n),
    |n| "|".repeat(n),
    |n| "1".repeat(n),
    |n| "- ".repeat(n / 2) + "a",
    |n| "* + ".repeat(n / 4),
    |n| "1. ".repeat(n / 3),
    |n| "> ".repeat(n / 2),
    |n| "# A\n".repeat(n / 4),
    |n| "# A\n\nb\n".repeat(n / 7),
    |n| "```\n".repeat(n / 4),
    |n| "```a\n~~~\n".repeat(n / 9),
    |n| format!("```{}\n{}", "i".repeat(n / 2), "a\n".repeat(n / 4)),
    |n| format!("{}\n{}", "`".repeat(n / 2), "a\n".repeat(n / 4)),
    |n| "<!--\n".repeat(n / 5),
    |n| "<pre>".repeat(n / 5),
    |n| "---\na: b\n".repeat(n / 9),
    |n| "|a|\n|-|\n".repeat(n / 8),
    |n| format!("|a|\n|-|\n{}", "|b|\n".repeat(n / 4)),
    |n| format!("{}\n{}\n{}", "|a".repeat(n / 8), "|-".repeat(n / 8), "|b\n".repeat(n / 8)),
    |n| "a:\n- b\n".repeat(n / 7),
    |n| "a:\n\n```\nb\n```\n\n".repeat(n / 15),
    |n| nested(n),
    |n| "a. ".repeat(n / 3),
    |n| "a ".repeat(n / 2),
    |n| "a\r\n".repeat(n / 3),
    |n| "a\n===\n".repeat(n / 6),
];

/// Returns a list whose items are nested ever deeper.
fn nested(size: usize) -> String {
    let mut text = String::new();
    let mut depth = 0;
    while text.len() < size {
        let _ = writeln!(text, "{}- a", "  ".repeat(depth));
        depth += 1;
    }
    text
}

/// The bytes that the scanner and the packer read per byte of the document: once for the lines, and once per unit.
const READ_PER_BYTE: usize = 8;

/// R60: the work grows with the size of the document. R107: hostile documents.
#[test]
fn hostile_documents_take_linear_work() {
    for (number, hostile) in HOSTILE.iter().enumerate() {
        for size in [100, 20_000] {
            let text = hostile(size);
            for options in
                [ChunkOptions::new(), ChunkOptions::new().size(64), ChunkOptions::new().overlap(300).plain_text()]
            {
                let (_, read) = work::counted(|| check(&text, &options));
                let most = READ_PER_BYTE * (text.len() + 100);
                assert!(read <= most, "document {number}, {size}: {read} bytes read of {}", text.len());
            }
        }
    }
}

/// R107: a document of 512 KiB of one character, and one of 20 000 headings. The test above checks that the work is linear.
#[test]
fn large_documents_are_cut() {
    const SIZE: usize = 512 << 10;
    for character in ["#", "`", "a"] {
        let chunks = chunks(&character.repeat(SIZE), &ChunkOptions::new());
        let ranges: Vec<_> = (0..SIZE).step_by(1500).map(|start| start..(start + 1500).min(SIZE)).collect();
        assert!(chunks.iter().map(|chunk| &chunk.range).eq(&ranges), "all but the last are full");
    }
    let mut text = String::new();
    for number in 0..20_000 {
        let _ = writeln!(text, "{} H{number}\r\nt", "#".repeat(1 + number % 6));
    }
    let chunks = chunks(&text, &ChunkOptions::new());
    assert_eq!(chunks.len(), 20_000);
    assert_eq!(path(&chunks[5]), "H0 > H1 > H2 > H3 > H4 > H5");
}
