//! The first error that the compiler reports for common mistakes.
//!
//! Each file in `mistakes/` has one mistake, and the expected error at its top:
//!
//! | line | part of the first error |
//! |---|---|
//! | `//! error: …` | the message |
//! | `//! label: …` | the text at the place of the mistake |
//! | `//! note: …` | a note |
//! | `//! code: …` | the error code, if the compiler defines the message and may change it |
//!
//! `…` stands for any text. `docs/compiler-errors.md` lists the messages and codes, with the corrections.

// Tests and their helpers may panic when an assumption fails.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A file of `mistakes/`.
struct Mistake {
    path: PathBuf,
    /// The expected parts of the error: the kind before the colon, and the text after it.
    expected: Vec<(String, String)>,
}

fn mistakes() -> Vec<Mistake> {
    let folder = fs::read_dir(Path::new(ROOT).join("tests/compiler/mistakes")).expect("the folder");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source");
        let lines = text.lines().filter_map(|line| line.strip_prefix("//! ")?.split_once(": "));
        let expected = lines.map(|(kind, text)| (kind.to_owned(), text.to_owned())).collect();
        Mistake { path, expected }
    };
    let mut mistakes: Vec<_> = folder.map(|entry| read(entry.expect("an entry").path())).collect();
    mistakes.sort_by(|a, b| a.path.cmp(&b.path));
    mistakes
}

fn json_lines(text: &[u8]) -> impl Iterator<Item = Value> {
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

/// Returns the arguments with which the compiler finds the library and the crates that the mistakes use. cargo has just built these crates
/// for this test, and prints their paths.
///
/// cargo chooses the features of dependencies for all packages of a command. So `TESTED_PACKAGES` must have the packages of the command that
/// runs this test, or cargo builds the library again.
fn externs() -> Vec<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--no-run", "--message-format=json", "--test=compiler", "--no-default-features"]);
    let packages = env::var("TESTED_PACKAGES").unwrap_or_else(|_| "-p edge-mcp".to_owned());
    cargo.args(packages.split(' '));
    let features = [
        ("client", cfg!(feature = "client")),
        ("gateway", cfg!(feature = "gateway")),
        ("page", cfg!(feature = "page")),
        ("rag", cfg!(feature = "rag")),
        ("tasks", cfg!(feature = "tasks")),
        ("worker", cfg!(feature = "worker")),
    ];
    cargo.args(features.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| format!("--features=edge-mcp/{name}")));
    // cargo sets them for a test. With them, cargo would run build scripts again that read them.
    for (name, _) in env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|kind| name.to_string_lossy().starts_with(kind)) {
            cargo.env_remove(name);
        }
    }
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let Output { stdout, stderr, .. } = cargo.current_dir(ROOT).output().expect("cargo runs");
    let artifacts: Vec<Value> = json_lines(&stdout).filter(|line| line["reason"] == "compiler-artifact").collect();
    let of = |name: &str| {
        let artifact = artifacts.iter().find(|artifact| artifact["target"]["name"] == name);
        let files = artifact.and_then(|artifact| artifact["filenames"].as_array()).into_iter().flatten();
        let mut files = files.filter_map(Value::as_str).map(PathBuf::from);
        let library = files.find(|file| file.extension().is_some_and(|extension| extension == "rlib"));
        library.unwrap_or_else(|| panic!("cargo has not built `{name}`: {}", String::from_utf8_lossy(&stderr)))
    };
    let library = of("edge_mcp");
    let folder = library.parent().expect("a folder").display();
    let mut externs = vec![format!("-Ldependency={folder}"), format!("-Ldependency={folder}/deps")];
    for name in ["edge_mcp", "schemars", "serde", "serde_json"] {
        externs.push(format!("--extern={name}={}", of(name).display()));
    }
    externs
}

/// Compiles a file and returns the first error.
fn first_error(path: &Path, externs: &[String]) -> Option<Value> {
    let name = path.file_stem().expect("a name").to_string_lossy().replace('-', "_");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--error-format=json", "--cap-lints=allow"]);
    let output = rustc.arg("--crate-name").arg(name).arg("-o").arg(target).args(externs).arg(path).output();
    json_lines(&output.expect("rustc runs").stderr).find(|line| line["level"] == "error")
}

/// Returns whether `text` matches `pattern`, in which `…` stands for any text.
fn matches(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('…') else { return text == pattern };
    let Some(text) = text.strip_prefix(start) else { return false };
    rest.is_empty() || text.char_indices().any(|(at, _)| text.get(at..).is_some_and(|end| matches(end, rest)))
}

/// Returns the texts of one kind in an error.
fn texts<'a>(error: &'a Value, kind: &str) -> Vec<&'a str> {
    let of = |list: &'a str, text: &'a str| {
        error[list].as_array().into_iter().flatten().filter_map(move |item| item[text].as_str())
    };
    match kind {
        "error" => error["message"].as_str().into_iter().collect(),
        "code" => error["code"]["code"].as_str().into_iter().collect(),
        "label" => of("spans", "label").collect(),
        "note" => of("children", "message").collect(),
        _ => panic!("the kind `{kind}` of a text is unknown"),
    }
}

/// Describes how the first error of a mistake differs from the expected error. Returns `None` if it does not differ.
fn difference(Mistake { path, expected }: &Mistake, externs: &[String]) -> Option<String> {
    let Some(error) = first_error(path, externs) else { return Some(format!("{}: no error", path.display())) };
    let is_missing =
        |(kind, pattern): &&(String, String)| !texts(&error, kind).iter().any(|text| matches(text, pattern));
    let missing: Vec<_> = expected.iter().filter(is_missing).map(|(kind, text)| format!("  {kind}: {text}")).collect();
    let rendered = error["rendered"].as_str().unwrap_or_default();
    let has_error = expected.iter().any(|(kind, _)| kind == "error" || kind == "code");
    (!has_error || !missing.is_empty())
        .then(|| format!("{}: not in the error:\n{}\n{rendered}", path.display(), missing.join("\n")))
}

#[test]
fn the_first_error_of_each_mistake_is_the_expected_error() {
    let (mistakes, externs) = (mistakes(), externs());
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let differences: Vec<String> = thread::scope(|scope| {
        let share = mistakes.len().div_ceil(workers);
        let started: Vec<_> = mistakes
            .chunks(share)
            .map(|mistakes| {
                scope.spawn(|| mistakes.iter().filter_map(|mistake| difference(mistake, &externs)).collect::<Vec<_>>())
            })
            .collect();
        started.into_iter().flat_map(|thread| thread.join().expect("a thread ends")).collect()
    });
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// `docs/compiler-errors.md` lists exactly the messages and codes that are tested.
#[test]
fn the_page_lists_exactly_the_tested_errors() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/compiler-errors.md")).expect("the page");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").nth(1));
    let listed: BTreeSet<&str> = rows.filter(|cell| !cell.starts_with("message")).collect();
    let mistakes = mistakes();
    let texts = mistakes.iter().flat_map(|mistake| &mistake.expected);
    let tested = texts.filter(|(kind, _)| kind == "error" || kind == "code").map(|(_, text)| &**text).collect();
    assert_eq!(listed, tested);
}

#[test]
fn an_ellipsis_in_a_pattern_matches_any_text() {
    assert!(matches("a tool cannot return `i32`", "a tool cannot return `…`"));
    assert!(matches("write `…`", "write `…`") && matches("abc", "…"));
    assert!(
        !matches("a prompt cannot return `i32`", "a tool cannot return `…`")
            && !matches("abc", "a…d")
            && !matches("abcd", "abc")
    );
}
