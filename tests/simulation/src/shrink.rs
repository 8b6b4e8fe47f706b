//! Makes a failing case smaller, as long as it violates the same invariant.

use crate::case::{Case, Operation};
use crate::faults::FaultPlan;
use crate::gateway_plan;
use crate::ledger::{Invariant, Violation};
use crate::parts::Part;
use crate::passages::PassagesPlan;
use crate::run::{Outcome, run};

/// The most runs for one case.
const RUNS: usize = 4000;
/// The number of schedules with which a smaller case is tried. A smaller case has another order of events.
const SCHEDULES: u64 = 6;

/// The smallest case found, and its violation.
pub struct Shrunk {
    pub case: Case,
    pub violation: Violation,
    pub runs: usize,
}

/// Shrinks a case that violates an invariant.
pub fn shrink(case: &Case, violation: Violation) -> Shrunk {
    shrink_with(case, violation, &|case| run(case, false))
}

/// Shrinks a case that violates an invariant when `run` runs it.
fn shrink_with(case: &Case, violation: Violation, run: &dyn Fn(&Case) -> Outcome) -> Shrunk {
    let mut shrinking = Shrinking { run, invariant: violation.invariant, best: case.clone(), violation, runs: 0 };
    shrinking.list_faults();
    while shrinking.runs < RUNS && shrinking.pass() {}
    Shrunk { case: shrinking.best, violation: shrinking.violation, runs: shrinking.runs }
}

struct Shrinking<'r> {
    run: &'r dyn Fn(&Case) -> Outcome,
    invariant: Invariant,
    best: Case,
    violation: Violation,
    runs: usize,
}

impl Shrinking<'_> {
    /// Runs a case, and keeps it if it violates the invariant.
    fn fails(&mut self, case: Case) -> bool {
        self.runs += 1;
        match (self.run)(&case).violation {
            Some(violation) if violation.invariant == self.invariant => {
                (self.best, self.violation) = (case, violation);
                true
            }
            _ => false,
        }
    }

    /// Tries a smaller case with some schedules.
    fn fails_soon(&mut self, case: &Case) -> bool {
        let seeds = (0..SCHEDULES).map(|nth| if nth == 0 { case.seed } else { nth });
        seeds.into_iter().any(|seed| self.runs < RUNS && self.fails(Case { seed, ..case.clone() }))
    }

    /// Replaces random faults by the list of those that happened.
    fn list_faults(&mut self) {
        let fired = (self.run)(&self.best).fired;
        self.runs += 1;
        self.fails(Case { faults: FaultPlan::Only(fired), ..self.best.clone() });
    }

    /// Tries each way of making the case smaller. Returns whether one of them worked.
    fn pass(&mut self) -> bool {
        let mut has_shrunk = false;
        let mut at = 0;
        loop {
            // Each smaller case begins with the best one, so the list changes when one works.
            let Some(smaller) = smaller(&self.best).into_iter().nth(at) else { return has_shrunk };
            if self.runs >= RUNS {
                return false;
            }
            if self.fails_soon(&smaller) {
                has_shrunk = true;
            } else {
                at += 1;
            }
        }
    }
}

/// Returns the cases that are a bit smaller, those with the greatest difference first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut found = Vec::new();
    let plan = |change: &dyn Fn(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        smaller
    };
    for nth in 0..case.plan.callers.len() {
        found.push(plan(&|case| drop(case.plan.callers.remove(nth))));
    }
    if let FaultPlan::Only(faults) = &case.faults {
        let mut size = faults.len();
        while size > 0 {
            for from in (0..faults.len()).step_by(size) {
                found.push(plan(&|case| {
                    if let FaultPlan::Only(faults) = &mut case.faults {
                        faults.drain(from..faults.len().min(from + size));
                    }
                }));
            }
            size /= 2;
        }
    }
    for (caller, of) in case.plan.callers.iter().enumerate() {
        for nth in 0..of.operations.len() {
            found.push(plan(&|case| drop(case.plan.callers[caller].operations.remove(nth))));
        }
    }
    for (caller, of) in case.plan.callers.iter().enumerate() {
        for (nth, operation) in of.operations.iter().enumerate() {
            for smaller in smaller_operations(operation) {
                found.push(plan(&|case| case.plan.callers[caller].operations[nth] = smaller.clone()));
            }
        }
        if of.has_progress {
            found.push(plan(&|case| case.plan.callers[caller].has_progress = false));
        }
    }
    if case.plan.isolates > 1 {
        found.push(plan(&|case| case.plan.isolates = 1));
    }
    if let Some(passages) = &case.plan.passages {
        found.push(plan(&|case| case.plan.passages = None));
        let simple = PassagesPlan { has_vectors: false, has_index: false, ..passages.clone() };
        if simple != *passages {
            found.push(plan(&|case| case.plan.passages = Some(simple.clone())));
        }
    }
    if case.plan.has_source {
        found.push(plan(&|case| case.plan.has_source = false));
    }
    found.extend(gateway_plan::smaller(case));
    found
}

fn smaller_operations(operation: &Operation) -> Vec<Operation> {
    match operation {
        Operation::Call(tool, parts) => {
            smaller_parts(parts).into_iter().map(|parts| Operation::Call(tool.clone(), parts)).collect()
        }
        Operation::Cancel(ms, parts) => {
            smaller_parts(parts).into_iter().map(|parts| Operation::Cancel(*ms, parts)).collect()
        }
        Operation::Together(calls) if calls.len() > 1 => {
            let without = |nth: usize| {
                let mut calls = calls.clone();
                calls.remove(nth);
                Operation::Together(calls)
            };
            (0..calls.len()).map(without).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the lists with one part less, or with a part replaced by what is within it, or with a smaller part.
fn smaller_parts(parts: &[Part]) -> Vec<Vec<Part>> {
    let mut found = Vec::new();
    for nth in 0..parts.len() {
        let mut without = parts.to_vec();
        without.remove(nth);
        found.push(without);
    }
    for (nth, part) in parts.iter().enumerate() {
        let replaced = |by: Vec<Part>| {
            let mut replaced = parts.to_vec();
            replaced.splice(nth..=nth, by);
            replaced
        };
        let lists = part.lists();
        found.extend(lists.iter().map(|list| replaced(list.clone())));
        for (at, list) in lists.iter().enumerate() {
            found.extend(smaller_parts(list).into_iter().map(|smaller| {
                let mut part = part.clone();
                part.lists_mut()[at] = smaller;
                replaced(vec![part])
            }));
        }
        if let Part::Join(branches) = part {
            for at in (0..branches.len()).filter(|_| branches.len() > 1) {
                let mut branches = branches.clone();
                branches.remove(at);
                found.push(replaced(vec![Part::Join(branches)]));
            }
        }
    }
    found
}

/// Returns a test that repeats a case.
pub fn test_of(case: &Case, violation: &Violation) -> String {
    let json = serde_json::to_string(case).expect("JSON");
    format!("/// {violation}\n#[test]\nfn seed_{}() {{\n    simulation::run::repeat(r#\"{json}\"#);\n}}\n", case.seed)
}

#[cfg(test)]
mod tests {
    use super::{Outcome, shrink_with};
    use crate::case::{Case, Operation};
    use crate::faults::{FaultPlan, Point};
    use crate::ledger::{Invariant, Violation};
    use crate::parts::{self, Part};

    /// Fails if a caller asks, and a certain fault happens.
    fn run(case: &Case) -> Outcome {
        let fired = match &case.faults {
            FaultPlan::Only(faults) => faults.clone(),
            _ => (1..=20).map(|nth| (Point::AnswerLost, nth)).collect(),
        };
        let operations = case.plan.callers.iter().flat_map(|caller| &caller.operations);
        let asks = operations.into_iter().any(|operation| match operation {
            Operation::Call(_, parts) => parts::all(parts).iter().any(|part| matches!(part, Part::Ask(..))),
            _ => false,
        });
        let is_violated = asks && fired.contains(&(Point::AnswerLost, 13));
        let violation = is_violated.then(|| Violation { invariant: Invariant::OneKey, text: String::new() });
        Outcome { violation, events: 0, counts: Vec::new(), fired, digest: 0 }
    }

    #[test]
    fn a_case_shrinks_to_what_it_needs() {
        let failing = (0..10_000).map(Case::new).find(|case| run(case).violation.is_some()).expect("a case");
        let violation = run(&failing).violation.expect("a violation");
        let shrunk = shrink_with(&failing, violation, &run).case;
        assert_eq!(shrunk.faults, FaultPlan::Only(vec![(Point::AnswerLost, 13)]));
        let [caller] = &shrunk.plan.callers[..] else { panic!("one caller: {shrunk:?}") };
        let [Operation::Call(_, parts)] = &caller.operations[..] else { panic!("one call: {shrunk:?}") };
        assert!(matches!(parts[..], [Part::Ask(..)]), "{parts:?}");
    }
}
