//! Finds cycles of `$ref`: schemas that apply to the same value must not refer to one another in a cycle.

use super::program::{Program, RuleId};
use crate::limits::SCHEMA_CHAIN;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Unvisited,
    InProgress,
    /// The rule is checked. The number is the length of the longest chain of rules that starts here.
    Done(usize),
}

/// Rejects a program with a cycle, or with a chain of more than [`SCHEMA_CHAIN`] rules for one value.
///
/// # Errors
/// A rule in the cycle or chain, and the problem.
pub(crate) fn check(program: &Program) -> Result<(), (RuleId, &'static str)> {
    let mut visits = vec![Visit::Unvisited; program.rules.len()];
    (0..program.rules.len()).try_for_each(|rule| visit(program, rule, 0, &mut visits).map(drop))
}

/// Returns the length of the longest chain that starts at `rule`.
fn visit(program: &Program, rule: RuleId, depth: usize, visits: &mut [Visit]) -> Result<usize, (RuleId, &'static str)> {
    const TOO_LONG: &str = "too many schemas refer to one another for the same value";
    match visits.get(rule) {
        Some(Visit::Done(length)) => return Ok(*length),
        Some(Visit::InProgress) => return Err((rule, "`$ref` forms a cycle that never consumes input")),
        _ => {}
    }
    if depth > SCHEMA_CHAIN {
        return Err((rule, TOO_LONG));
    }
    set(visits, rule, Visit::InProgress);
    let mut longest = 0_usize;
    for next in program.rules_for_same_value(rule) {
        longest = longest.max(visit(program, next, depth.saturating_add(1), visits)?.saturating_add(1));
    }
    if longest > SCHEMA_CHAIN {
        return Err((rule, TOO_LONG));
    }
    set(visits, rule, Visit::Done(longest));
    Ok(longest)
}

fn set(visits: &mut [Visit], rule: RuleId, visit: Visit) {
    if let Some(slot) = visits.get_mut(rule) {
        *slot = visit;
    }
}
