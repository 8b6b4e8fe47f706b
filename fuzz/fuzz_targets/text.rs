//! Fuzzes the functions that make foreign text safe to show: descriptions, names, questions for approval, and questions that are passed on.
//! The results have no deceptive characters and no forged lines, and their length is bounded.
//!
//! The input is a text and JSON text. The crate `regex` has its own tables of Unicode.
#![no_main]

use std::sync::LazyLock;

use edge_mcp::json::{Document, JsonLimits, Kind, Value};
use edge_mcp::parsers::{labelled, line, message, sentence, shortened, shown_call, visible};
use libfuzzer_sys::fuzz_target;
use regex::Regex;
use serde_json::Value as Json;

static DECEPTIVE: LazyLock<Regex> = LazyLock::new(|| {
    let class =
        r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\x{2800}]--\p{Prepended_Concatenation_Mark}]";
    Regex::new(class).expect("a class")
});
/// The invisible characters that may stay, each with the visible character before it. The last alternative is for line feeds and tabs.
static NEEDED: LazyLock<Regex> = LazyLock::new(|| {
    let joined = r"[[\x{600}-\x{109f}\x{1780}-\x{18af}]--\p{Default_Ignorable_Code_Point}][\x{200c}\x{200d}]";
    let symbol = r"[[\x{203c}-\x{2bff}\x{3030}\x{303d}\x{3297}-\x{3299}\x{1f000}-\x{1faff}]--[\p{Default_Ignorable_Code_Point}\s\x{2800}]]";
    let selected = r"(?:\x{fe0f}\x{200d}|[\x{200d}\x{fe0e}\x{fe0f}])";
    Regex::new(&format!(r"{joined}|{symbol}{selected}|[\n\t]")).expect("an expression")
});
/// The spaces that a text must not have.
static OTHER_SPACE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\p{Zs}--\x20]").expect("a class"));

fuzz_target!(|input: (&str, &str)| {
    let (text, json) = input;
    let clean = visible(text);
    assert!(!DECEPTIVE.is_match(&NEEDED.replace_all(&clean, "")), "{clean:?}");
    assert!(!OTHER_SPACE.is_match(&clean), "{clean:?}");
    assert_eq!(visible(&clean), clean);

    for most in [10, 1000] {
        for one in [line(text, most).into_owned(), sentence(text, most)] {
            assert!(!DECEPTIVE.is_match(&one) && one.chars().count() <= most + 1, "{one:?}");
            assert_eq!(line(&one, most), one);
        }
    }
    let one = sentence(text, usize::MAX);
    assert!(
        one.split(' ').all(|word| !word.contains(char::is_whitespace) && (one.is_empty() || !word.is_empty())),
        "{one:?}"
    );
    let one = shortened(text);
    assert!(!DECEPTIVE.is_match(&one) && one.chars().count() <= 64 * 10 + 1, "{one:?}");

    let passed = labelled("parcels", text);
    assert!(passed.lines().count() <= 51 && !passed.ends_with('\n'), "{passed:?}");
    assert!(passed.chars().count() <= 2000 + 51 * "\n[parcels] ".len() + 1, "{passed:?}");
    for one in passed.split('\n') {
        assert!(one.strip_prefix("[parcels]").is_some_and(|one| one.is_empty() || one.starts_with(' ')), "{passed:?}");
        assert!(!DECEPTIVE.is_match(one), "{passed:?}");
    }

    for json in [json, text] {
        if let Ok(document) = Document::parse(json.as_bytes(), JsonLimits::default()) {
            approve(text, document.root());
        }
    }
});

/// Checks the question for approval of a call with these arguments.
fn approve(question: &str, arguments: Value<'_>) {
    let Some(call) = shown_call("pay", arguments) else { return };
    let shown = message(question, &call);
    let lines: Vec<_> = shown.split('\n').collect();
    let [own, "", "Tool: pay", last] = lines[..] else { panic!("{shown:?}") };
    assert!(!DECEPTIVE.is_match(own) && !DECEPTIVE.is_match(last), "{shown:?}");
    assert!(
        own.chars().count() <= 501 && last.chars().count() <= "Arguments: ".len() + 4000,
        "{} characters: {shown:?}",
        last.chars().count()
    );
    let last = last.strip_prefix("Arguments: ").expect("the arguments");
    // An ellipsis outside of quotes is not JSON. So text that is JSON must show the whole arguments.
    let shown = Document::parse(last.as_bytes(), JsonLimits::default());
    let shown = shown.ok().and_then(|shown| shown.root().to_json());
    if let (Some(shown), Some(given)) = (shown, arguments.to_json()) {
        assert!(are_equal(&shown, &given), "{shown} is not {given}");
    }
    if arguments.kind() == Kind::Object {
        for (name, _) in arguments.members() {
            let is_short = name.len() <= 16 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
            assert!(!is_short || last.contains(&format!("\"{name}\":")), "{name} in {last:?}");
        }
    }
}

/// Returns whether two values are equal. The question shows a number in one form, such as 100 for `1e2` and 0 for `-0`.
fn are_equal(one: &Json, other: &Json) -> bool {
    match (one, other) {
        // Integers must be equal exactly, because beyond 2^53 an `f64` does not hold each of them.
        (Json::Number(one), Json::Number(other)) => {
            one == other || ((one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64())
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_equal(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| are_equal(value, other)))
        }
        _ => one == other,
    }
}
