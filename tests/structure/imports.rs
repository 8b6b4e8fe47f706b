//! The imports between files, as far as paths show them.
//!
//! A path leads through re-exports to the file that defines the item. A re-export is not an import of its file, unless that file also
//! uses the name.

use std::collections::BTreeMap;

use crate::source::{code, is_word};
use crate::{Imports, Sources};

/// A `use` of one item: its path, and its name in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    path: Vec<String>,
    pub(crate) name: String,
}

/// A file as a module.
struct Module {
    /// The path of the module, such as `["server", "tool"]`; empty for the root.
    path: Vec<String>,
    /// The paths that the file uses.
    used: Vec<Vec<String>>,
    /// The paths of its re-exports.
    exports: Vec<Use>,
}

/// Returns the files that each file of `sources` imports.
pub(crate) fn imports(sources: &Sources) -> Imports {
    let files: BTreeMap<Vec<String>, &String> = sources.keys().map(|file| (module_path(file), file)).collect();
    let modules: BTreeMap<&String, Module> =
        sources.iter().map(|(file, text)| (file, read(module_path(file), text, &files))).collect();
    modules
        .iter()
        .filter(|(file, _)| !file.ends_with("tests.rs"))
        .map(|(file, module)| {
            let targets = module.used.iter().filter_map(|path| resolve(&module.path, path, &files, &modules, 0));
            ((*file).clone(), targets.filter(|target| target != *file).collect())
        })
        .collect()
}

fn module_path(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

fn read(path: Vec<String>, text: &str, files: &BTreeMap<Vec<String>, &String>) -> Module {
    let code = without_restrictions(&code(text));
    let (mut body, mut used, mut exports) = (String::new(), Vec::new(), Vec::new());
    let mut rest = code.as_str();
    while let Some(start) = next_word(rest, "use") {
        let (before, statement) = rest.split_at(start);
        // `use<'a>` in `impl Future + use<'a>` is not an import, but a list of captured parameters.
        if statement.starts_with("use<") {
            let (captures, after) = rest.split_at(start + "use".len());
            body.push_str(captures);
            rest = after;
            continue;
        }
        let end = statement.find(';').map_or(statement.len(), |end| end + 1);
        let (statement, after) = statement.split_at(end);
        let is_export = before.trim_end().ends_with("pub") || visibility_ends(before);
        body.push_str(before);
        let tree = statement.trim_start_matches("use").trim_end_matches(';');
        let items = flatten(tree);
        if is_export {
            exports.extend(items);
        } else {
            used.extend(items.into_iter().map(|it| it.path));
        }
        rest = after;
    }
    body.push_str(rest);
    used.extend(paths(&body, &path, files));
    // If the file uses a name that it re-exports, the re-export is an import too.
    let is_used = |name: &str| body.match_indices(name).any(|(at, _)| is_use(&body, at, name));
    used.extend(exports.iter().filter(|export| is_used(&export.name)).map(|it| it.path.clone()));
    Module { path, used, exports }
}

/// Replaces each `pub(in path)` by `pub`: its path is not an import.
fn without_restrictions(code: &str) -> String {
    let mut pieces = code.split("pub(in ");
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = pieces.map(|piece| format!("pub{}", piece.split_once(')').map_or("", |(_, after)| after)));
    rest.fold(first, |all, piece| all + &piece)
}

/// Returns whether `before` ends with `pub(…)`.
fn visibility_ends(before: &str) -> bool {
    before
        .trim_end()
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once('('))
        .is_some_and(|(text, _)| text.ends_with("pub"))
}

/// Returns the position of the first `word` in `code` that is a whole word.
fn next_word(code: &str, word: &str) -> Option<usize> {
    code.match_indices(word).map(|(at, _)| at).find(|at| is_whole_word(code, *at, word))
}

fn is_whole_word(code: &str, at: usize, word: &str) -> bool {
    let is_inside_before = code.get(..at).is_some_and(|before| before.ends_with(is_word));
    let is_inside_after = code.get(at + word.len()..).is_some_and(|after| after.starts_with(is_word));
    !is_inside_before && !is_inside_after
}

/// Returns whether `word` at `at` is a use of that name: a whole word, and not the declaration of a module.
fn is_use(code: &str, at: usize, word: &str) -> bool {
    let is_declaration = code.get(..at).is_some_and(|before| before.trim_end().ends_with("mod"));
    is_whole_word(code, at, word) && !is_declaration
}

/// Returns the items of a `use` tree.
pub(crate) fn flatten(tree: &str) -> Vec<Use> {
    let tree = tree.trim();
    if let Some((prefix, group)) = tree.split_once('{') {
        let group = group.trim_end().strip_suffix('}').unwrap_or(group);
        let prefix: Vec<String> = segments(prefix);
        let items = split_group(group).into_iter().flat_map(flatten);
        return items
            .map(|Use { path, name }| match path.as_slice() {
                // `a::{self as b}` names `a`.
                [this] if this == "self" => {
                    let own = prefix.last().cloned().unwrap_or_default();
                    Use { path: prefix.clone(), name: if name == "self" { own } else { name } }
                }
                _ => Use { path: prefix.iter().cloned().chain(path).collect(), name },
            })
            .collect();
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias.trim())));
    let path = segments(path);
    let Some(last) = path.last() else { return Vec::new() };
    vec![Use { name: alias.unwrap_or(last).to_owned(), path }]
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(|segment| segment.trim().to_owned()).filter(|segment| !segment.is_empty()).collect()
}

/// Splits a group at the commas outside of inner groups.
fn split_group(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(group.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(group.get(start..));
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

/// Returns the paths in code that begin with `crate`, `super`, `self` or a child module of this module.
fn paths(body: &str, module: &[String], files: &BTreeMap<Vec<String>, &String>) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.find(is_word) {
        let is_inner = rest.get(..at).is_some_and(|before| before.ends_with("::"));
        let from = rest.get(at..).unwrap_or_default();
        let length = length_of_path(from);
        let path = segments(from.get(..length).unwrap_or_default());
        rest = from.get(length..).unwrap_or_default();
        let starts_here = |first: &String| {
            let child: Vec<String> = module.iter().chain([first]).cloned().collect();
            matches!(first.as_str(), "crate" | "super" | "self") || files.contains_key(&child)
        };
        if !is_inner && path.len() > 1 && path.first().is_some_and(starts_here) {
            found.push(path);
        }
    }
    found
}

/// Returns the length of the path, such as `a::b::c`, at the beginning of `code`.
fn length_of_path(code: &str) -> usize {
    let mut length = code.find(|character| !is_word(character)).unwrap_or(code.len());
    loop {
        let Some(next) = code.get(length..).and_then(|rest| rest.strip_prefix("::")) else { return length };
        let word = next.find(|character| !is_word(character)).unwrap_or(next.len());
        if word == 0 {
            return length;
        }
        length += 2 + word;
    }
}

/// Returns the file that defines the item of `path` in `module`, or `None` for a path of another crate.
fn resolve(
    module: &[String],
    path: &[String],
    files: &BTreeMap<Vec<String>, &String>,
    modules: &BTreeMap<&String, Module>,
    depth: usize,
) -> Option<String> {
    // The depth is limited, because re-exports can form a cycle.
    if depth > 16 {
        return None;
    }
    let mut here = module.to_vec();
    let mut is_ours = false;
    for (at, segment) in path.iter().enumerate() {
        match segment.as_str() {
            "crate" => here.clear(),
            "super" => drop(here.pop()),
            "self" => {}
            _ => {
                let child: Vec<String> = here.iter().chain([segment]).cloned().collect();
                if files.contains_key(&child) {
                    here = child;
                } else if is_ours {
                    let file = *files.get(&here)?;
                    let exports = &modules.get(file)?.exports;
                    let rest = path.get(at + 1..).unwrap_or_default();
                    let export = exports.iter().find(|export| export.name == *segment);
                    let followed = export.and_then(|export| {
                        let path: Vec<String> = export.path.iter().chain(rest).cloned().collect();
                        resolve(&here, &path, files, modules, depth + 1)
                    });
                    return followed.or_else(|| Some(file.clone()));
                } else {
                    return None;
                }
            }
        }
        is_ours = true;
    }
    files.get(&here).map(|file| (*file).clone())
}

#[test]
fn use_trees_are_flattened() {
    let paths =
        |tree| flatten(tree).into_iter().map(|it| format!("{} = {}", it.name, it.path.join("::"))).collect::<Vec<_>>();
    assert_eq!(
        paths("crate::a::{self, b::{C, self as d, E as F}, g::*, h}"),
        [
            "a = crate::a",
            "C = crate::a::b::C",
            "d = crate::a::b",
            "F = crate::a::b::E",
            "* = crate::a::g::*",
            "h = crate::a::h"
        ]
    );
}

#[test]
fn paths_are_resolved_to_files() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let sources = Sources::from([
        file("lib.rs", "pub use a::One;"),
        file(
            "a/mod.rs",
            "mod one; mod two; pub use one::One; pub(crate) use two::{Two as Renamed, run}; fn f() { run() }",
        ),
        file("a/one.rs", "pub struct One;"),
        file(
            "a/two.rs",
            "use std::fmt; pub struct Two; impl fmt::Debug for Two { } macro_rules! m { () => { $crate::b::c() } }",
        ),
        file("b.rs", "use crate::a::{One, Renamed}; pub(crate) fn c() { super::a::one::made::<u8>(); }"),
        file("c.rs", "use crate::One; pub(in crate::b) fn d() { let f = crate::a::f; }"),
    ]);
    let imports = imports(&sources);
    let of = |file: &str| imports.get(file).into_iter().flatten().map(String::as_str).collect::<Vec<_>>();
    assert!(of("lib.rs").is_empty(), "a re-export is not an import");
    assert_eq!(of("a/mod.rs"), ["a/two.rs"], "a re-export is an import if its file uses the name");
    assert_eq!(of("a/two.rs"), ["b.rs"]);
    assert_eq!(of("b.rs"), ["a/one.rs", "a/two.rs"]);
    assert_eq!(of("c.rs"), ["a/mod.rs", "a/one.rs"]);
}
