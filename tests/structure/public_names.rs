//! The public names of the crate, as far as `pub` items of its public modules show them.

use crate::Sources;
use crate::imports::flatten;
use crate::source::{code, length_of_item};

/// Returns the public names, each with the path of its module: empty for the root. Hidden items and the prelude are left out.
pub(crate) fn public_names(sources: &Sources) -> Vec<(String, String)> {
    let mut names = Vec::new();
    let root = sources.get("lib.rs").map(|text| code(text)).unwrap_or_default();
    collect("", &root, sources, &mut names);
    names
}

fn collect(module: &str, code: &str, sources: &Sources, names: &mut Vec<(String, String)>) {
    let mut rest = code;
    while !rest.trim().is_empty() {
        let (item, after) = rest.split_at(length_of_item(rest));
        rest = after;
        let (attributes, item) = split_attributes(item);
        let Some(item) = item.strip_prefix("pub ").filter(|_| !attributes.contains("doc(hidden)")) else { continue };
        let (keyword, item) = item.split_once(' ').unwrap_or((item, ""));
        match keyword {
            "use" => {
                let exported = flatten(item.trim_end_matches(';'));
                names.extend(exported.into_iter().map(|exported| (module.to_owned(), exported.name)));
            }
            "mod" => {
                let (name, body) = item.split_once('{').unwrap_or((item.trim_end_matches(';'), ""));
                let path = format!("{module}{}{}", if module.is_empty() { "" } else { "::" }, name.trim());
                let file = path.replace("::", "/");
                let file = sources.get(&format!("{file}/mod.rs")).or_else(|| sources.get(&format!("{file}.rs")));
                let body = file.map_or_else(|| body.trim_end_matches('}').to_owned(), |text| crate::source::code(text));
                if name.trim() != "prelude" {
                    collect(&path, &body, sources, names);
                }
            }
            _ => {
                let name = item.trim_start_matches("fn ").split(|c| !crate::source::is_word(c)).next();
                names.extend(name.map(|name| (module.to_owned(), name.to_owned())));
            }
        }
    }
}

/// Splits an item after its attributes.
fn split_attributes(item: &str) -> (&str, &str) {
    let mut rest = item.trim_start();
    while rest.starts_with("#[") || rest.starts_with("#!") {
        let mut depth = 0_usize;
        let end = rest.char_indices().find(|(_, character)| {
            depth += usize::from(*character == '[');
            depth -= usize::from(*character == ']' && depth > 0);
            *character == ']' && depth == 0
        });
        rest = rest.get(end.map_or(rest.len(), |(at, _)| at + 1)..).unwrap_or_default().trim_start();
    }
    item.split_at(item.len() - rest.len())
}

#[test]
fn public_names_are_found() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let sources = Sources::from([
        file(
            "lib.rs",
            "#![allow(x)] mod a; pub mod b; pub mod c { pub use crate::a::{One, Two as Second}; } pub mod prelude { pub use crate::One; } \
             #[doc(hidden)] pub mod d { pub use crate::a::Three; } pub use a::Four; pub(crate) use a::Five;",
        ),
        file(
            "b.rs",
            "#[derive(Clone)] pub struct Six { pub one: u8 } impl Six { pub fn f() {} } pub fn seven() {} struct Eight;",
        ),
    ]);
    let names: Vec<_> = public_names(&sources).into_iter().map(|(module, name)| format!("{module}::{name}")).collect();
    assert_eq!(names, ["b::Six", "b::seven", "c::One", "c::Second", "::Four"]);
}
