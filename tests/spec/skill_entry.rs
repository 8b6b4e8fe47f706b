//! The checks of entries of skills.

use edge_mcp::skills::SkillEntry;
use serde_json::{Value, json};

use super::skills::{Folder, digest, entry, folder};

type Parsed = Result<SkillEntry, String>;

fn parsed(uri: &str, frontmatter: Value, resources: Value) -> Parsed {
    SkillEntry::parse(&json!({ "uri": uri, "frontmatter": frontmatter, "resources": resources }).to_string())
}

fn matter(name: &str) -> Value {
    json!({ "name": name, "description": "d" })
}

fn file(uri: &str) -> Value {
    json!({ "uri": uri, "digest": digest(b""), "size": 0 })
}

fn main() -> Value {
    json!([file("skill://a/SKILL.md")])
}

/// Returns the entry of a skill with a further member of its frontmatter.
fn with_member(key: &str, value: Value) -> Parsed {
    parsed("skill://a/SKILL.md", json!({ "name": "a", "description": "d", key: value }), main())
}

/// Returns the entry of a skill with a further file.
fn with_file(uri: &str) -> Parsed {
    parsed("skill://a/SKILL.md", matter("a"), json!([file("skill://a/SKILL.md"), file(uri)]))
}

fn with_files(files: Vec<Value>) -> Parsed {
    parsed("skill://a/SKILL.md", matter("a"), json!(files))
}

fn assert_refused(cases: Vec<(Parsed, &str)>) {
    for (parsed, words) in cases {
        let problem = parsed.expect_err(words);
        assert!(problem.contains(words), "{words}: {problem}");
    }
}

/// S3, S4, S5, S6: an entry with a mistake in its URI or its frontmatter is refused, with a sentence that names it.
#[test]
fn entries_are_checked() {
    for fitting in [
        parsed("skill://a/SKILL.md", matter("a"), main()),
        parsed("skill://x.y/a_b/a-1/SKILL.md", matter("a-1"), json!([file("skill://x.y/a_b/a-1/SKILL.md")])),
        with_member("compatibility", json!("x".repeat(500))),
        with_member("metadata", json!({ "version": "1.0" })),
        with_member("description", json!("é".repeat(1024))),
    ] {
        assert!(fitting.is_ok(), "{fitting:?}");
    }
    assert_refused(vec![
        (SkillEntry::parse("{"), "is not JSON"),
        (SkillEntry::parse("[]"), "has no `uri`"),
        (parsed("skill://a/skill.md", matter("a"), main()), "ends with `/SKILL.md`"),
        (parsed("https://a/SKILL.md", matter("a"), main()), "begins with `skill://`"),
        (parsed("skill:///SKILL.md", matter(""), main()), "folders of a-z"),
        (parsed("skill://SKILL.md", matter("a"), main()), "begins with `skill://`"),
        (parsed("skill://A/a/SKILL.md", matter("a"), main()), "folders of a-z"),
        (parsed("skill://../a/SKILL.md", matter("a"), main()), "folders of a-z"),
        (parsed("skill://a%20b/a/SKILL.md", matter("a"), main()), "folders of a-z"),
        (parsed("skill://a/SKILL.md", matter("b"), main()), "must have a `name`"),
        (parsed("skill://a--b/SKILL.md", matter("a--b"), main()), "must have a `name`"),
        (parsed("skill://a.b/SKILL.md", matter("a.b"), main()), "must have a `name`"),
        (parsed("skill://a/SKILL.md", json!({ "name": "a" }), main()), "`description`"),
        (parsed("skill://a/SKILL.md", json!([]), main()), "must have a `name`"),
        (with_member("description", json!("x".repeat(1025))), "`description`"),
        (with_member("description", json!(1)), "`description`"),
        (with_member("compatibility", json!("")), "`compatibility`"),
        (with_member("metadata", json!({ "version": 1.0 })), "texts as values of `metadata`"),
        (with_member("metadata", json!(["a"])), "texts as values of `metadata`"),
        (with_member("x", json!([{ "y": { "__proto__": 1 } }])), "`__proto__`"),
        (parsed(&format!("skill://{}/a/SKILL.md", "x".repeat(2048 - 18)), matter("a"), main()), "2048 bytes"),
    ]);
}

/// S8, S10, S25: an entry with a mistake in its list of files is refused. The list is complete, ordered, and within the limits.
#[test]
fn files_of_entries_are_checked() {
    let many = |count: usize| {
        let files = (0..count).map(|nth| file(&format!("skill://a/{nth:04}")));
        with_files(files.chain([file("skill://a/SKILL.md")]).collect())
    };
    let sized =
        |size: Value| with_files(vec![json!({ "uri": "skill://a/SKILL.md", "digest": digest(b""), "size": size })]);
    let digested = |digest: &str| with_files(vec![json!({ "uri": "skill://a/SKILL.md", "digest": digest, "size": 0 })]);
    for fitting in [
        with_file("skill://a/a%20b"),
        with_file("skill://a/b:@!$&'()*+,;=~"),
        with_file("skill://a/e%CC%81"),
        with_file("skill://a/a%2541"),
        with_file(&format!("skill://a/{}", "x".repeat(2048 - 10))),
        many(511),
        sized(json!(16 << 20)),
    ] {
        assert!(fitting.is_ok(), "{fitting:?}");
    }
    assert_refused(vec![
        (parsed("skill://a/SKILL.md", matter("a"), json!("dynamic")), "list of all files"),
        (parsed("skill://a/SKILL.md", matter("a"), json!([])), "its own SKILL.md"),
        (
            parsed("skill://a/SKILL.md", matter("a"), json!([file("skill://a/SKILL.md"), file("skill://a/B")])),
            "once, in the order",
        ),
        (with_file("skill://a/SKILL.md"), "each file once"),
        (with_file(&format!("skill://a/{}", "x".repeat(2048 - 9))), "2048 bytes"),
        (with_file("skill://b/x"), "in its folder"),
        (with_file("skill://a/x?q"), "in its folder"),
        (with_file("skill://a/x#f"), "in its folder"),
        (with_file("skill://a/x/"), "in its folder"),
        (with_file("skill://a/x//y"), "in its folder"),
        (with_file("skill://a/x/../y"), "in its folder"),
        (with_file("skill://a/x/%2E%2E/y"), "in its folder"),
        (with_file("skill://a/x%2Fy"), "in its folder"),
        (with_file("skill://a/x%2fy"), "in its folder"),
        (with_file("skill://a/x%5Cy"), "in its folder"),
        (with_file("skill://a/x%00"), "in its folder"),
        (with_file("skill://a/x%FF"), "in its folder"),
        (with_file("skill://a/x y"), "in its folder"),
        (with_file("skill://a/%78"), "in its folder"),
        (with_file("skill://a/é"), "in its folder"),
        (with_file("skill://a/x/.git/config"), "in its folder"),
        (
            parsed(
                "skill://a/SKILL.md",
                matter("a"),
                json!([file("skill://a/SKILL.md"), file("skill://a/x"), file("skill://a/x-1"), file("skill://a/x/y")]),
            ),
            "a folder as a file (at `skill://a/x`)",
        ),
        (many(512), "at most 512 files"),
        (sized(json!((16 << 20) + 1)), "16 MiB"),
        (sized(json!(-1)), "`size`"),
        (sized(json!("1")), "`size`"),
        (sized(json!(1.5)), "`size`"),
        (digested(&digest(b"").to_uppercase()), "`digest`"),
        (digested(&digest(b"")[7..]), "`digest`"),
        (digested(&format!("{}0", digest(b""))), "`digest`"),
    ]);
}

/// S23, extension case 18: each `SKILL.md` is a skill of its own, and the entries of nested skills agree. A nested skill can have the same
/// name.
#[test]
fn nested_entries_must_agree() {
    let skill = |files: &Folder, root: &str| SkillEntry::parse(&entry(files, root)).expect("an entry");
    let files = folder(&[("a/SKILL.md", "1"), ("a/a/SKILL.md", "2"), ("a/a/x", "3"), ("b/SKILL.md", "4")]);
    let (outer, inner, other) = (skill(&files, "skill://a"), skill(&files, "skill://a/a"), skill(&files, "skill://b"));
    assert_eq!(SkillEntry::check_nested(&[outer.clone(), inner.clone(), other]), Ok(()));
    let changed = skill(&folder(&[("a/a/SKILL.md", "2"), ("a/a/x", "5")]), "skill://a/a");
    let more = skill(&folder(&[("a/a/SKILL.md", "2"), ("a/a/x", "3"), ("a/a/y", "3")]), "skill://a/a");
    let alone = skill(&folder(&[("a/SKILL.md", "1")]), "skill://a");
    for (skills, words) in [
        (vec![outer.clone()], "`skill://a/a/SKILL.md` is in `skill://a/SKILL.md`, and must also be a skill"),
        (vec![outer.clone(), changed], "differ in the files"),
        (vec![outer.clone(), more], "differ in the files"),
        (vec![alone, inner.clone()], "differ in the files"),
        (vec![inner.clone(), outer], "ordered by their URIs"),
        (vec![inner.clone(), inner], "each once"),
    ] {
        let problem = SkillEntry::check_nested(&skills).expect_err(words);
        assert!(problem.contains(words), "{words}: {problem}");
    }
}
