//! Property tests: expansion and matching are inverse, and agree with the [model](crate::model). The random templates, variables and URIs
//! are the same in each run.

use std::collections::BTreeSet;

use edge_uri_template::{InvalidVariable, UriTemplate};

use crate::Variables;
use crate::model::{Piece, is_rejected, readings, written};

const ALTERATIONS: [&str; 12] = ["a", ".", "/", "%", "2", "%61", "%2F", "%2e", "&", ";", "=", "é"];

/// Marsaglia's xorshift generator. It always starts with the same seed, so a failure can be reproduced.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn text(&mut self, of: &[&str], up_to: usize) -> String {
        (0..self.below(up_to + 1)).map(|_| self.one(of)).collect()
    }

    /// Creates a template. Its literals have few different characters, so values often contain them too.
    fn template(&mut self) -> Vec<Piece> {
        let mut names = vec!["a", "ab", "b", "a.b", "x_1", "c"];
        let mut pieces = vec![Piece::Literal("x:".into())];
        for _ in 0..=self.below(3) {
            pieces.push(Piece::Literal(self.text(&["a", "b", ".", "-", "/", "?", "&", ";", "=", ",", "%2F"], 2)));
            let count = 1 + self.below(3).min(names.len() - 1);
            let picked = (0..count).map(|_| names.remove(self.below(names.len())).to_owned()).collect();
            pieces.push(Piece::Expression(self.one(&[' ', ' ', '+', '#', '.', '/', ';', '?', '&']), picked));
            if names.len() < 2 {
                break;
            }
        }
        pieces.push(Piece::Literal(self.text(&["a", ".", "/", "#", ".md"], 1)));
        pieces
    }

    fn value(&mut self) -> String {
        let often = ["a", "b", ".", "/", "-", "é", " ", "a", "b"];
        let rare = ["%", "2", "F", "%2F", "\0", "..", "\\", "=", "&", ",", ";", "?", "+", "💧"];
        let alphabet = if self.below(2) == 0 { &often[..] } else { &rare[..] };
        self.text(alphabet, 4)
    }

    /// Creates values for some variables of the template, and rarely for an unknown variable.
    fn variables(&mut self, pieces: &[Piece]) -> Variables {
        let mut variables = Variables::new();
        for piece in pieces {
            if let Piece::Expression(symbol, names) = piece {
                let one_in = if ";?&".contains(*symbol) { 2 } else { 20 };
                for name in names {
                    if self.below(one_in) > 0 {
                        variables.insert(name.clone(), self.value());
                    }
                }
            }
        }
        if self.below(50) == 0 {
            variables.insert("unknown".into(), "a".into());
        }
        variables
    }

    /// Returns the URI with one or two characters duplicated, removed or replaced.
    fn altered(&mut self, uri: &str) -> String {
        let mut characters: Vec<_> = uri.chars().map(String::from).collect();
        for _ in 0..=self.below(2) {
            let at = self.below(characters.len());
            match self.below(3) {
                0 => characters.insert(at, characters[at].clone()),
                1 if characters.len() > 1 => drop(characters.remove(at)),
                _ => characters[at] = self.one(&ALTERATIONS).into(),
            }
        }
        characters.concat()
    }
}

/// Returns the variables for which expansion must fail.
fn rejected(pieces: &[Piece], variables: &Variables) -> BTreeSet<String> {
    let mut unknown: BTreeSet<_> = variables.keys().cloned().collect();
    let mut rejected = BTreeSet::new();
    for piece in pieces {
        let Piece::Expression(symbol, names) = piece else { continue };
        for name in names {
            unknown.remove(name);
            let is_bad = variables.get(name).map_or(!";?&".contains(*symbol), |value| is_rejected(*symbol, value));
            if is_bad {
                rejected.insert(name.clone());
            }
        }
    }
    rejected.extend(unknown);
    rejected
}

#[test]
fn expansion_and_matching_are_inverse() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut templates, mut expanded, mut matched, mut unmatched) = (0, 0, 0, 0);
    for _ in 0..6_000 {
        let pieces = random.template();
        let text = written(&pieces);
        let Ok(template) = UriTemplate::parse(&text) else { continue };
        templates += 1;
        for _ in 0..4 {
            let variables = random.variables(&pieces);
            let rejected = rejected(&pieces, &variables);
            let uri = match template.expand(&variables) {
                Ok(uri) => uri,
                Err(error) => {
                    assert!(rejected.contains(&error.variable), "{text} {variables:?}: {error}");
                    assert_eq!(error.reason == InvalidVariable::Unknown, error.variable == "unknown");
                    continue;
                }
            };
            assert_eq!(rejected, BTreeSet::new(), "{text} {variables:?}");
            expanded += 1;
            assert_eq!(template.matches(&uri).as_ref(), Some(&variables), "{text} {uri}");
            for uri in [random.altered(&uri), random.altered(&uri), uri] {
                let found = template.matches(&uri);
                if uri.len() < 24 {
                    // The model finds at most one reading, the same as the library.
                    assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), readings(&pieces, &uri), "{text} {uri}");
                }
                let Some(found) = found else {
                    unmatched += 1;
                    continue;
                };
                matched += 1;
                let again = template.expand(&found).unwrap_or_else(|error| panic!("{text} {uri}: {error}"));
                assert_eq!(template.matches(&again), Some(found), "{text} {uri} {again}");
            }
        }
    }
    println!("{templates} templates, {expanded} expansions, {matched} matches, {unmatched} URIs without a match");
    // The test is only meaningful if every outcome occurs often.
    assert!([templates, expanded, matched, unmatched].iter().all(|count| *count > 1_000));
}
