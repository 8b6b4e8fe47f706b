//! The walks of ARCHITECTURE.md: the files that a call passes, in order.
//!
//! A walk is a diagram that begins with the comment `%% walk: NAME`. Its labels that begin with a path name a file or a folder of `src/`.

use std::fs;
use std::path::Path;

use crate::{MODULES, module};

/// The names of the walks.
const WALKS: &[&str] = &["a tools/call", "a call through the gateway", "a durable task"];

/// The most boxes of a walk.
const MOST_BOXES: usize = 12;

/// A walk: its name, and the labels of its boxes in the order of the text.
struct Walk<'a> {
    name: &'a str,
    boxes: Vec<&'a str>,
}

/// Returns the walks of a page.
fn walks(page: &str) -> Vec<Walk<'_>> {
    let diagrams = page.split("```mermaid\n").skip(1).filter_map(|block| block.split_once("\n```"));
    diagrams
        .filter_map(|(diagram, _)| {
            let name = diagram.lines().find_map(|line| line.trim().strip_prefix("%% walk: "))?;
            // A label is in `["…"]`. No label contains a quotation mark.
            let boxes = diagram.split("[\"").skip(1).filter_map(|rest| rest.split_once("\"]")).map(|(label, _)| label);
            Some(Walk { name, boxes: boxes.collect() })
        })
        .collect()
}

/// Returns the path at the beginning of a label, if it begins with one.
fn path(label: &str) -> Option<&str> {
    let path = label.split([':', ',', ' ']).next()?;
    (path.contains('/') || MODULES.contains(&path)).then_some(path)
}

/// Returns what is wrong with a walk. `exists` says whether `src/` has a file or a folder.
fn problems(walk: &Walk<'_>, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    if walk.boxes.len() > MOST_BOXES {
        problems.push(format!("{}: {} boxes", walk.name, walk.boxes.len()));
    }
    let mut floors = Vec::new();
    for path in walk.boxes.iter().filter_map(|label| path(label)) {
        if !exists(path) {
            problems.push(format!("{}: src/ has no {path}", walk.name));
        }
        if let Some(floor) = MODULES.iter().position(|name| *name == module(path)) {
            floors.push((floor, path));
        }
    }
    // A module imports only the modules before it, so a walk goes to earlier modules, and then back to later ones.
    let mut goes_up = false;
    for pair in floors.windows(2) {
        let [(before, _), (floor, path)] = pair else { continue };
        if floor < before && goes_up {
            problems.push(format!("{}: it goes down a second time, to {path}", walk.name));
        }
        goes_up |= floor > before;
    }
    problems
}

#[test]
fn the_walks_go_down_and_up_once_through_existing_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the page");
    let walks = walks(&page);
    assert_eq!(walks.iter().map(|walk| walk.name).collect::<Vec<_>>(), WALKS);
    let exists =
        |path: &str| root.join("src").join(path).is_dir() || root.join("src").join(format!("{path}.rs")).is_file();
    let problems: Vec<_> = walks.iter().flat_map(|walk| problems(walk, exists)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_wrong_walk_is_found() {
    let page = "```mermaid\nflowchart TD\n    %% walk: a call\n    entry[\"worker/entry\"] --> guard[\"http/guard: method, length\"]\n    \
        guard --> gone[\"server/gone\"]\n    gone --> own[\"your handler\"]\n    own --> reply[\"http/reply\"]\n    reply --> text[\"text\"]\n```\n\
        ```mermaid\nflowchart TD\n    a[\"nowhere/file\"]\n```\n";
    let walks = walks(page);
    let [walk] = walks.as_slice() else { panic!("{} walks", walks.len()) };
    assert_eq!(
        walk.boxes,
        ["worker/entry", "http/guard: method, length", "server/gone", "your handler", "http/reply", "text"]
    );
    let problems = problems(walk, |path| path != "server/gone");
    assert_eq!(problems, ["a call: src/ has no server/gone", "a call: it goes down a second time, to text"]);
    let long = Walk { name: "a call", boxes: vec!["your handler"; 13] };
    assert_eq!(super::walks::problems(&long, |_| true), ["a call: 13 boxes"]);
}
