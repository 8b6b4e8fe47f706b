//! Whether a schema comes to an end: rules about one value must not lead back to themselves, nor to one another without end.

use super::compile::SchemaError;
use super::program::{Program, RuleId};
use crate::limits::SCHEMA_CHAIN;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Not,
    Within,
    /// And so many rules follow from it.
    Done(usize),
}

/// Refuses a program that does not come to an end. `places` are those of its rules.
pub(super) fn check(program: &Program, places: &[String]) -> Result<(), SchemaError> {
    let mut seen = vec![Seen::Not; program.rules.len()];
    for rule in 0..program.rules.len() {
        follow(program, rule, 0, &mut seen)
            .map_err(|(rule, problem)| SchemaError::at(places.get(rule).map_or("", String::as_str), problem))?;
    }
    Ok(())
}

fn follow(program: &Program, rule: RuleId, level: usize, seen: &mut [Seen]) -> Result<usize, (RuleId, &'static str)> {
    const TOO_LONG: &str = "too many schemas lead to one another here";
    match seen.get(rule) {
        Some(Seen::Done(length)) => return Ok(*length),
        Some(Seen::Within) => return Err((rule, "the schema leads back to itself without a step into the value")),
        _ => {}
    }
    if level > SCHEMA_CHAIN {
        return Err((rule, TOO_LONG));
    }
    let mut mark = |mark: Seen| {
        if let Some(place) = seen.get_mut(rule) {
            *place = mark;
        }
    };
    mark(Seen::Within);
    let mut longest = 0_usize;
    for next in program.beside(rule) {
        longest = longest.max(follow(program, next, level.saturating_add(1), seen)?.saturating_add(1));
    }
    if longest > SCHEMA_CHAIN {
        return Err((rule, TOO_LONG));
    }
    if let Some(place) = seen.get_mut(rule) {
        *place = Seen::Done(longest);
    }
    Ok(longest)
}
