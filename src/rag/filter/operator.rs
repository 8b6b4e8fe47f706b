//! The operators, and the names that are not operators.

use super::expression::Comparison;

/// An operator in the test of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Eq,
    Ne,
    Compare(Comparison),
    In,
    Nin,
    Exists,
    Contains,
    /// Negates operators. Only the program can use it in a test, because the published schema has no recursion.
    Not,
}

/// The operators in the test of a field that every filter can use.
pub(super) const OPERATORS: [(&str, Operator); 10] = [
    ("$eq", Operator::Eq),
    ("$ne", Operator::Ne),
    ("$gt", Operator::Compare(Comparison::Greater)),
    ("$gte", Operator::Compare(Comparison::AtLeast)),
    ("$lt", Operator::Compare(Comparison::Less)),
    ("$lte", Operator::Compare(Comparison::AtMost)),
    ("$in", Operator::In),
    ("$nin", Operator::Nin),
    ("$exists", Operator::Exists),
    ("$contains", Operator::Contains),
];

/// Returns the operator `name` in the test of a field, in a filter of a caller or of the program.
///
/// # Errors
/// The predicate of a sentence about the name, with the remedy.
pub(super) fn operator(name: &str, is_of_caller: bool) -> Result<Operator, String> {
    if let Some((_, operator)) = OPERATORS.iter().find(|(known, _)| *known == name) {
        return Ok(*operator);
    }
    if name == "$not" {
        let remedy =
            "negates a filter, not the test of a field. Use `$ne` or `$nin`, or write {\"$not\":{\"field\":…}}.";
        return if is_of_caller { Err(remedy.into()) } else { Ok(Operator::Not) };
    }
    if let "$and" | "$or" | "$nor" = name {
        return Err(format!(
            "combines filters, not tests of a field. Write {{\"{name}\":[{{\"field\":…}},{{\"field\":…}}]}}."
        ));
    }
    Err(unsupported(name, "Operators of a field", &OPERATORS.map(|(name, _)| name).join(", ")))
}

/// Returns the predicate of a sentence about an operator that does not exist, with the nearest operator that does.
pub(super) fn unsupported(name: &str, kind: &str, known: &str) -> String {
    match REJECTED.iter().find(|(rejected, _)| *rejected == name) {
        Some((_, remedy)) => format!("is not supported. {remedy}"),
        None => format!("is not an operator. {kind}: {known}."),
    }
}

const SUBSTRING: &str = "Use `$contains` for a part of a string.";
const EACH: &str = "Use one `$eq` for each value: {\"$and\":[{\"field\":\"a\"},{\"field\":\"b\"}]}.";
const ELEMENT: &str = "Use `$eq` or `$in`: they hold if any element of the array has the value.";
const LENGTH: &str = "Use `$exists` to find arrays that have elements.";
const DATE: &str = "Compare dates as strings of equal form, such as \"2026-01-31\".";
const TYPE: &str = "Use `$exists`: a test with a value holds only for values of the same type.";

/// Operators of other filter languages, with the nearest form that is supported.
const REJECTED: [(&str, &str); 20] = [
    ("$regex", SUBSTRING),
    ("$options", SUBSTRING),
    ("$like", SUBSTRING),
    ("$ilike", SUBSTRING),
    ("$text", SUBSTRING),
    ("$search", SUBSTRING),
    ("$startsWith", SUBSTRING),
    ("$endsWith", SUBSTRING),
    ("$all", EACH),
    ("$elemMatch", ELEMENT),
    ("$any", ELEMENT),
    ("$size", LENGTH),
    ("$type", TYPE),
    ("$date", DATE),
    ("$before", DATE),
    ("$after", DATE),
    ("$between", "Use `$gte` and `$lte`: {\"field\":{\"$gte\":1,\"$lte\":2}}."),
    ("$neq", "Use `$ne`."),
    ("$notIn", "Use `$nin`."),
    ("$null", "Use `$exists`."),
];
