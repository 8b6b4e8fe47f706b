//! Cycles in a graph of files.

use std::collections::{BTreeMap, BTreeSet};

use crate::Imports;

/// Returns the cycles: for each set of files that use each other, the arrows between them.
pub(crate) fn cycles(imports: &Imports) -> Vec<String> {
    let mut cycles = BTreeSet::new();
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|file| (file.as_str(), reached(imports, file))).collect();
    for file in imports.keys() {
        let leads_back = |other: &&str| reached.get(other).is_some_and(|files| files.contains(file.as_str()));
        let from_here = reached.get(file.as_str()).into_iter().flatten();
        let members: BTreeSet<&str> = from_here.copied().filter(leads_back).collect();
        let inner = |file: &str| {
            let targets = imports.get(file).into_iter().flatten().map(String::as_str);
            targets.filter(|target| members.contains(target)).collect::<Vec<_>>().join(", ")
        };
        if !members.is_empty() {
            let edges = members.iter().map(|file| format!("{file} uses {}", inner(file)));
            cycles.insert(edges.collect::<Vec<_>>().join("\n"));
        }
    }
    cycles.into_iter().collect()
}

/// Returns all files that `file` imports, directly or indirectly.
pub(crate) fn reached<'i>(imports: &'i Imports, file: &str) -> BTreeSet<&'i str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![file];
    while let Some(file) = open.pop() {
        for target in imports.get(file).into_iter().flatten() {
            if reached.insert(target.as_str()) {
                open.push(target);
            }
        }
    }
    reached
}
