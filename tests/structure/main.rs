//! Tests of the structure of `src/`: the imports and method calls between files, the sizes of the modules, and the names of types.
//!
//! A module is a file or folder directly in `src/`. Each module imports only modules above it in [`MODULES`], and no two files import
//! each other, directly or indirectly. A call of a method whose `impl` is outside the home of its type counts as an import of that file.
//! `names` checks the names of types, and `walks` the paths of calls in ARCHITECTURE.md.

// Tests and their helpers may panic when an assumption fails.
#![allow(clippy::expect_used, clippy::panic, clippy::arithmetic_side_effects)]

mod cycles;
mod imports;
mod methods;
mod names;
mod public_names;
mod source;
mod walks;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use imports::imports;
use methods::{MethodCall, method_calls};

/// The modules. Each imports only the modules before it. Every module may use the first five: the table of limits, base64, the
/// bounded cache, parallel futures, and text.
const MODULES: [&str; 24] = [
    "limits",
    "base64",
    "bounded_cache",
    "parallel",
    "text",
    "protocol",
    "schema",
    "host",
    "storage",
    "config",
    "auth",
    "call",
    "models",
    "registry",
    "server",
    "engine",
    "client",
    "words",
    "agents",
    "gateway",
    "rag",
    "tasks",
    "http",
    "worker",
];

/// The files that may import every module.
const FREE: [&str; 3] = ["lib", "testing", "documentation"];

/// Imports that the order of the modules permits, but that never occur: the beginnings of the paths of the importing and the imported file.
const NEVER: [(&str, &str); 12] = [
    ("auth/", "protocol/"),
    ("http/", "client/"),
    ("rag/", "auth/"),
    // The wire format of the client knows no connection.
    ("client/wire/", "client/tokens/"),
    ("client/wire/", "client/questions/"),
    ("client/wire/", "client/session/"),
    ("client/wire/", "client/operations/"),
    ("client/session/", "client/operations/"),
    // OAuth knows the host, and no connection.
    ("client/oauth/", "client/session/"),
    ("client/oauth/", "client/tokens/"),
    ("client/wire/", "client/oauth/"),
    ("client/tokens/", "client/session/"),
];

/// The types whose methods may form a cycle, with the reason.
const RECURSIVE: [(&str, &str); 1] =
    [("Endpoint", "each path of an endpoint has a file, and the pipeline finds the file for a path")];

/// The source texts of a crate, by their paths in `src/`.
type Sources = BTreeMap<String, String>;

/// The files that each file imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Reads the sources of this crate.
fn sources() -> Sources {
    fn collect(folder: &Path, root: &Path, sources: &mut Sources) {
        for entry in fs::read_dir(folder).expect("a folder of src/") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, root, sources);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root).expect("it is in src/").to_string_lossy().replace('\\', "/");
                sources.insert(name, fs::read_to_string(&path).expect("a source"));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Sources::new();
    collect(&root, &root, &mut sources);
    sources
}

/// Returns the module of a file: the first part of its path.
fn module(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

/// Returns the imports of a module that is not above the importing module, as `file imports file`.
fn upward(imports: &Imports) -> Vec<String> {
    let place = |file: &str| {
        let place = MODULES.iter().position(|known| *known == module(file));
        place.unwrap_or_else(|| panic!("{file}: MODULES does not contain the module `{}`", module(file)))
    };
    let is_free = |file: &str| FREE.contains(&module(file));
    let all = imports.iter().flat_map(|(from, targets)| targets.iter().map(move |to| (from, to)));
    let checked = all.filter(|(from, _)| !is_free(from));
    checked
        .filter(|(from, to)| is_free(to) || place(from) < place(to))
        .map(|(from, to)| format!("{from} imports {to}"))
        .collect()
}

#[test]
fn no_files_import_each_other() {
    let cycles = cycles::cycles(&imports(&sources()));
    assert!(cycles.is_empty(), "import cycles:\n{}", cycles.join("\n\n"));
}

/// Returns the cycles of imports and method calls, without methods of the types `but`.
fn cycles_through_methods(imports: &Imports, calls: &BTreeSet<MethodCall>, but: &[&str]) -> Vec<String> {
    let mut arrows = imports.clone();
    for call in calls.iter().filter(|call| !but.contains(&call.type_name.as_str())) {
        arrows.entry(call.from.clone()).or_default().insert(call.to.clone());
    }
    cycles::cycles(&arrows)
}

#[test]
fn no_files_call_each_other_through_methods() {
    let sources = sources();
    let imports = imports(&sources);
    let calls = method_calls(&sources, &imports);
    let all = RECURSIVE.map(|(name, _)| name);
    let cycles = cycles_through_methods(&imports, &calls, &all);
    assert!(cycles.is_empty(), "cycles through methods:\n{}", cycles.join("\n\n"));
    for (name, reason) in RECURSIVE {
        let others: Vec<_> = all.into_iter().filter(|other| *other != name).collect();
        let cycles = cycles_through_methods(&imports, &calls, &others);
        assert!(!cycles.is_empty(), "{name} forms no cycle any more: {reason}");
    }
}

#[test]
fn no_module_imports_a_module_below_it() {
    let upward = upward(&imports(&sources()));
    assert!(upward.is_empty(), "upward imports:\n{}", upward.join("\n"));
}

/// Returns the imports that [`NEVER`] forbids, as `file imports file`.
fn forbidden(imports: &Imports) -> Vec<String> {
    let all = imports.iter().flat_map(|(from, targets)| targets.iter().map(move |to| (from, to)));
    let is_never =
        |from: &str, to: &str| NEVER.iter().any(|(never, that)| from.starts_with(never) && to.starts_with(that));
    let forbidden = all.filter(|(from, to)| is_never(from, to));
    forbidden.map(|(from, to)| format!("{from} imports {to}")).collect()
}

#[test]
fn some_files_never_import_others() {
    let found = forbidden(&imports(&sources()));
    assert!(found.is_empty(), "forbidden imports:\n{}", found.join("\n"));
}

#[test]
fn no_module_has_more_than_a_quarter_of_the_lines() {
    let mut lines = BTreeMap::<String, usize>::new();
    for (file, text) in sources() {
        *lines.entry(module(&file).to_owned()).or_default() +=
            text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default().lines().count();
    }
    let all: usize = lines.values().sum();
    let large: Vec<_> = lines.iter().filter(|(_, lines)| *lines * 4 > all).collect();
    assert!(large.is_empty(), "modules with more than a quarter of the {all} lines, without tests: {large:?}");
}

/// The largest number of names at the root of the crate, without modules.
const ROOT_NAMES: usize = 40;

#[test]
fn the_root_has_few_names() {
    let names = public_names::public_names(&sources());
    let root: Vec<_> = names.iter().filter(|(module, _)| module.is_empty()).map(|(_, name)| name).collect();
    assert!(root.len() <= ROOT_NAMES, "{} names at the root, at most {ROOT_NAMES}: {root:?}", root.len());
}

/// Functions of different modules can have the same name, because their callers name the module.
#[test]
fn each_public_type_has_one_path_and_its_own_name() {
    let mut paths = BTreeMap::<String, Vec<String>>::new();
    for (module, name) in public_names::public_names(&sources()) {
        if name.starts_with(char::is_uppercase) {
            paths.entry(name).or_default().push(module);
        }
    }
    paths.retain(|_, modules| modules.len() > 1);
    assert!(paths.is_empty(), "names with several paths: {paths:#?}");
}

fn sources_of(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn an_import_cycle_is_found() {
    let sources = sources_of(&[
        ("server/mod.rs", "mod tool; mod context; mod state; pub use context::Context;"),
        ("server/tool.rs", "use super::Context; pub struct Tool;"),
        ("server/context.rs", "use crate::{json::Value, server::{state::State as Kept}}; pub struct Context;"),
        ("server/state.rs", "pub struct State(fn(&super::tool::Tool));"),
        ("json/mod.rs", "pub struct Value;"),
    ]);
    let cycles = cycles::cycles(&imports(&sources));
    let cycle = "server/context.rs uses server/state.rs\n\
                 server/state.rs uses server/tool.rs\n\
                 server/tool.rs uses server/context.rs";
    assert_eq!(cycles, [cycle]);
}

#[test]
fn a_cycle_through_methods_is_found() {
    let sources = sources_of(&[
        ("client/mod.rs", "mod link; mod post; mod credential;"),
        ("client/link.rs", "pub struct Link;"),
        ("client/post.rs", "use super::link::Link; impl Link { pub fn post(&self) { self.credential() } }"),
        ("client/credential.rs", "use super::link::Link; impl Link { pub fn credential(&self) { self.post() } }"),
    ]);
    let imports = imports(&sources);
    let calls = method_calls(&sources, &imports);
    assert!(cycles::cycles(&imports).is_empty());
    let cycle = "client/credential.rs uses client/post.rs\nclient/post.rs uses client/credential.rs";
    assert_eq!(cycles_through_methods(&imports, &calls, &[]), [cycle]);
    assert!(cycles_through_methods(&imports, &calls, &["Link"]).is_empty());
}

#[test]
fn a_forbidden_import_is_found() {
    let sources = sources_of(&[
        ("client/mod.rs", "pub struct Transport;"),
        ("http/mod.rs", "mod in_process;"),
        ("http/in_process.rs", "use crate::client::Transport;"),
    ]);
    assert_eq!(forbidden(&imports(&sources)), ["http/in_process.rs imports client/mod.rs"]);
}

#[test]
fn an_upward_import_is_found() {
    let sources = sources_of(&[
        ("host/mod.rs", "mod read; macro_rules! said { () => { $crate::http::say() } }"),
        ("host/read.rs", "fn read() { crate::limits::DEPTH; }"),
        ("limits.rs", "pub const DEPTH: usize = 8; use crate::lib_item;"),
        ("http/mod.rs", "mod inner; pub(crate) use inner::say; use crate::host::read;"),
        ("http/inner.rs", "pub fn say() {}"),
        ("lib.rs", "mod host; mod http; pub fn lib_item() {}"),
    ]);
    assert_eq!(upward(&imports(&sources)), ["host/mod.rs imports http/inner.rs", "limits.rs imports lib.rs"]);
}
