//! The arrows between files that only method calls show: a call needs no import of the file with the `impl`.
//!
//! An inherent `impl` of a type outside the file that defines the type (its home) is such a file. A call in another file is an arrow to it.
//! The text does not show the type of a receiver. So `self.method()` is looked up in the type of the surrounding `impl`, and the method of
//! another receiver in the types that the calling file can reach by imports. If several of them have a method of this name, those count
//! whose names the file contains.

use std::collections::{BTreeMap, BTreeSet};

use crate::cycles::reached;
use crate::source::{code, is_word};
use crate::{Imports, Sources};

/// An `impl`.
#[derive(Debug)]
struct Impl<'s> {
    type_name: &'s str,
    /// The code between the braces.
    body: &'s str,
    /// The names of the methods that other files can call without an import.
    methods: Vec<&'s str>,
}

/// A method: the file that defines its type, the type, and the file with the `impl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Method<'s> {
    home: &'s str,
    type_name: &'s str,
    file: &'s str,
}

/// A call of a method in another file.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MethodCall {
    pub from: String,
    pub to: String,
    pub type_name: String,
}

/// The receiver of a method call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiver<'s> {
    Itself,
    Type(&'s str),
    Other,
}

/// Returns the calls of methods whose `impl` is neither in the calling file nor in the home of the type.
pub(crate) fn method_calls(sources: &Sources, imports: &Imports) -> BTreeSet<MethodCall> {
    let codes: BTreeMap<&str, String> = sources
        .iter()
        .filter(|(file, _)| !file.ends_with("tests.rs"))
        .map(|(file, text)| (file.as_str(), code(text)))
        .collect();
    let mut definers = BTreeMap::<&str, Vec<&str>>::new();
    for (file, code) in &codes {
        for name in defined_types(code) {
            definers.entry(name).or_default().push(file);
        }
    }
    let of_file: BTreeMap<&str, Vec<Impl<'_>>> = codes.iter().map(|(file, code)| (*file, impls(code))).collect();
    let known: BTreeMap<&str, BTreeSet<&str>> =
        codes.keys().map(|file| (*file, reached(imports, file).into_iter().chain([*file]).collect())).collect();
    // The home of a type that a file names: the file itself, or the only file that it reaches and that defines the name.
    let home = |file: &str, name: &str| -> Option<&str> {
        let definers = definers.get(name)?;
        let own = definers.iter().find(|definer| **definer == file);
        let mut reachable =
            definers.iter().filter(|definer| known.get(file).is_some_and(|files| files.contains(*definer)));
        own.or_else(|| reachable.next().filter(|_| reachable.next().is_none())).copied()
    };
    let mut methods = BTreeMap::<&str, BTreeSet<Method<'_>>>::new();
    for (file, impls) in &of_file {
        for it in impls {
            let Some(home) = home(file, it.type_name) else { continue };
            for name in &it.methods {
                methods.entry(name).or_default().insert(Method { home, type_name: it.type_name, file });
            }
        }
    }
    let mut calls = BTreeSet::new();
    for (file, code) in &codes {
        let reaches = |method: &&Method<'_>| known.get(file).is_some_and(|files| files.contains(method.home));
        let mut add = |found: Option<&Method<'_>>| {
            let Some(method) = found else { return };
            if method.file != *file && method.file != method.home {
                let (from, to) = ((*file).to_owned(), method.file.to_owned());
                calls.insert(MethodCall { from, to, type_name: method.type_name.to_owned() });
            }
        };
        for it in of_file.get(file).into_iter().flatten() {
            let home = home(file, it.type_name);
            for (receiver, name) in called(it.body) {
                if receiver == Receiver::Itself {
                    let of_type = methods
                        .get(name)
                        .into_iter()
                        .flatten()
                        .find(|method| Some(method.home) == home && method.type_name == it.type_name);
                    add(of_type);
                }
            }
        }
        for (receiver, name) in called(code) {
            let candidates: Vec<_> = methods.get(name).into_iter().flatten().filter(reaches).collect();
            match receiver {
                Receiver::Itself => {}
                Receiver::Type(type_name) => add(candidates.into_iter().find(|method| method.type_name == type_name)),
                Receiver::Other => match candidates.as_slice() {
                    [method] => add(Some(method)),
                    several => {
                        for method in several.iter().filter(|method| has_word(code, method.type_name)) {
                            add(Some(method));
                        }
                    }
                },
            }
        }
    }
    calls
}

/// Returns the names of the types that `code` defines.
fn defined_types(code: &str) -> Vec<&str> {
    let mut words = words(code).map(|(_, word)| word);
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "struct" | "enum" | "union") {
            found.extend(words.next());
        }
    }
    found
}

/// Returns the `impl`s in `code`.
fn impls(code: &str) -> Vec<Impl<'_>> {
    let mut found = Vec::new();
    for (at, word) in words(code) {
        let before = code.get(..at).unwrap_or_default().trim_end().chars().next_back();
        // In `-> impl Trait` and the like, it is a type.
        if word != "impl" || before.is_some_and(|before| !"};]{".contains(before)) {
            continue;
        }
        let rest = code.get(at + word.len()..).unwrap_or_default();
        let Some(open) = rest.find('{') else { continue };
        let (header, block) = rest.split_at(open);
        let header = header.trim_start();
        let header = header.get(length_of_generics(header)..).unwrap_or_default();
        let header = header.split(" where ").next().unwrap_or_default();
        let of_trait = words(header).find(|(_, word)| *word == "for").map(|(at, word)| at + word.len());
        let path = header.get(of_trait.unwrap_or_default()..).unwrap_or_default().split('<').next().unwrap_or_default();
        let Some((_, type_name)) = words(path).last() else { continue };
        let body = block.get(..length_of_block(block)).unwrap_or_default();
        // A caller of a method of a trait imports the trait.
        let methods = if of_trait.is_some() { Vec::new() } else { methods(body) };
        found.push(Impl { type_name, body, methods });
    }
    found
}

/// Returns the names of the functions in the body of an `impl` that are not private.
fn methods(body: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_public = false;
    let mut words = words(body);
    while let Some((_, word)) = words.next() {
        match word {
            "pub" => is_public = true,
            "fn" if is_public => {
                found.extend(words.next().map(|(_, name)| name));
                is_public = false;
            }
            "fn" => drop(words.next()),
            _ => {}
        }
    }
    found
}

/// Returns the method calls in `code`.
fn called(code: &str) -> impl Iterator<Item = (Receiver<'_>, &str)> {
    words(code).filter_map(move |(at, name)| {
        let after = code.get(at + name.len()..).unwrap_or_default();
        if !after.starts_with('(') && !after.starts_with("::<") {
            return None;
        }
        let before = code.get(..at).unwrap_or_default();
        if let Some(before) = before.strip_suffix('.') {
            let before = before.trim_end();
            let is_itself = before.strip_suffix("self").is_some_and(|before| !before.ends_with(is_word));
            return Some((if is_itself { Receiver::Itself } else { Receiver::Other }, name));
        }
        let before = before.strip_suffix("::")?;
        let (_, of) =
            words(before.get(before.rfind(|character| !is_word(character)).map_or(0, |at| at + 1)..)?).last()?;
        Some((if of == "Self" { Receiver::Itself } else { Receiver::Type(of) }, name))
    })
}

/// Returns the words of `code`, with their positions.
fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = code.get(at..)?;
        let start = at + rest.find(is_word)?;
        let word = code.get(start..)?;
        let word = word.get(..word.find(|character| !is_word(character)).unwrap_or(word.len()))?;
        at = start + word.len();
        Some((start, word))
    })
}

fn has_word(code: &str, word: &str) -> bool {
    words(code).any(|(_, found)| found == word)
}

/// Returns the length of the generic parameters at the beginning of `text`, such as `<T: Fn() -> U>`.
fn length_of_generics(text: &str) -> usize {
    let (mut depth, mut last) = (0_usize, ' ');
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if last != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        last = character;
        if depth == 0 {
            return if at == 0 { 0 } else { at + 1 };
        }
    }
    text.len()
}

/// Returns the length of the block at the beginning of `text`.
fn length_of_block(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

#[test]
fn method_calls_are_found() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let sources = Sources::from([
        file("a/mod.rs", "mod link; mod send; mod read; mod other;"),
        file("a/link.rs", "pub struct Link; impl Link { pub fn state(&self) {} }"),
        file(
            "a/send.rs",
            "use super::link::Link; impl<T: Fn() -> u8> super::link::Link { pub(super) async fn send(&self) { self.private(); self.read::<u8>() } fn private(&self) {} }",
        ),
        file(
            "a/read.rs",
            "use super::link::Link; impl Link { pub fn read(&self) { self.state() } } fn f() -> impl Sized { } impl Clone for Link { fn clone(&self) { self.send() } }",
        ),
        file("a/other.rs", "use super::link::Link; fn f(link: &Link) { link\n.send(); Link::read(link); x.private() }"),
        file("b.rs", "fn f() { y.send(); }"),
    ]);
    let calls = method_calls(&sources, &crate::imports::imports(&sources));
    let calls: Vec<_> =
        calls.iter().map(|call| format!("{} calls {} in {}", call.from, call.type_name, call.to)).collect();
    assert_eq!(
        calls,
        [
            "a/other.rs calls Link in a/read.rs",
            "a/other.rs calls Link in a/send.rs",
            // The call is in the `impl` of a trait.
            "a/read.rs calls Link in a/send.rs",
            "a/send.rs calls Link in a/read.rs",
        ]
    );
}
