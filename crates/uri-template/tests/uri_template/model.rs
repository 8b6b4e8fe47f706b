//! A slow model of matching. It tries every expansion by which RFC 6570 could have produced a URI.
//!
//! The model does not share code with the library, not even the table of operators or the percent-encoding.

use std::collections::BTreeSet;

use crate::Variables;

#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Literal(String),
    /// The symbol of the operator, or a space if there is no operator, and the variables.
    Expression(char, Vec<String>),
}

pub(crate) fn written(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Literal(text) => text.clone(),
        Piece::Expression(' ', names) => format!("{{{}}}", names.join(",")),
        Piece::Expression(symbol, names) => format!("{{{symbol}{}}}", names.join(",")),
    };
    pieces.iter().map(piece).collect()
}

/// Returns every set of variables whose expansion could be `uri`.
pub(crate) fn readings(pieces: &[Piece], uri: &str) -> BTreeSet<Variables> {
    let mut all = BTreeSet::new();
    for spelling in spellings(pieces) {
        read(&spelling, uri, &Variables::new(), &mut all);
    }
    all
}

/// Returns whether an operator rejects this value.
pub(crate) fn is_rejected(symbol: char, value: &str) -> bool {
    let named = ";?&".contains(symbol);
    let dots = value.replace('\\', "/").split('/').any(|segment| segment == "." || segment == "..");
    let digit = |byte: u8| char::from(byte).is_ascii_hexdigit();
    let escape = value.as_bytes().windows(3).any(|three| three[0] == b'%' && digit(three[1]) && digit(three[2]));
    (value.is_empty() && !named) || value.contains('\0') || dots || ("+#".contains(symbol) && escape)
}

#[derive(Clone)]
enum Part {
    Text(String),
    /// A non-empty value.
    Value(char, String),
    Empty(String),
}

/// Returns all combinations in which each optional variable has a value, is empty, or is absent.
fn spellings(pieces: &[Piece]) -> Vec<Vec<Part>> {
    let mut all = vec![vec![]];
    for piece in pieces {
        let ways = match piece {
            Piece::Literal(text) => vec![vec![Part::Text(text.clone())]],
            Piece::Expression(symbol, names) => expression(*symbol, names),
        };
        let with =
            |before: &Vec<Part>| ways.iter().map(|way| [before.clone(), way.clone()].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(with).collect();
    }
    all
}

fn expression(symbol: char, names: &[String]) -> Vec<Vec<Part>> {
    let first = if " +".contains(symbol) { String::new() } else { symbol.to_string() };
    let sep = match symbol {
        ' ' | '+' | '#' => ',',
        '?' => '&',
        other => other,
    };
    let mut all: Vec<Vec<Part>> = vec![vec![]];
    for name in names {
        let mut longer = vec![];
        for way in all {
            let lead = if way.is_empty() { first.clone() } else { sep.to_string() };
            let value = Part::Value(symbol, name.clone());
            let with = |parts: Vec<Part>| [way.clone(), parts].concat();
            if ";?&".contains(symbol) {
                longer.push(way.clone());
                longer.push(with(vec![Part::Text(format!("{lead}{name}=")), value]));
                let equals = if symbol == ';' { "" } else { "=" };
                longer.push(with(vec![Part::Text(format!("{lead}{name}{equals}")), Part::Empty(name.clone())]));
            } else {
                longer.push(with(vec![Part::Text(lead), value]));
            }
        }
        all = longer;
    }
    all
}

fn read(parts: &[Part], uri: &str, found: &Variables, all: &mut BTreeSet<Variables>) {
    let Some((part, rest)) = parts.split_first() else {
        if uri.is_empty() {
            all.insert(found.clone());
        }
        return;
    };
    let and = |name: &String, value: String| {
        let mut found = found.clone();
        found.insert(name.clone(), value);
        found
    };
    match part {
        Part::Text(text) => {
            if let Some(uri) = uri.strip_prefix(text.as_str()) {
                read(rest, uri, found, all);
            }
        }
        Part::Empty(name) => read(rest, uri, &and(name, String::new()), all),
        Part::Value(symbol, name) => {
            for end in (1..=uri.len()).filter(|end| uri.is_char_boundary(*end)) {
                if let Some(value) = decoded(*symbol, &uri[..end]) {
                    read(rest, &uri[end..], &and(name, value), all);
                }
            }
        }
    }
}

fn decoded(symbol: char, text: &str) -> Option<String> {
    let mut bytes = vec![];
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '%' => {
                let (high, low) = (rest.next()?.to_digit(16)?, rest.next()?.to_digit(16)?);
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' | '_' | '~' => bytes.push(character as u8),
            _ if "+#".contains(symbol) && ":/?#[]@!$&'()*+,;=".contains(character) => bytes.push(character as u8),
            _ => return None,
        }
    }
    String::from_utf8(bytes).ok().filter(|value| !is_rejected(symbol, value))
}
