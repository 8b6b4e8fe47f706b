//! Runs of fixed seeds. A failure prints its seed: `scripts/simulate --show SEED` prints the events of the run.

#![allow(clippy::expect_used)]

use std::thread;

use simulation::case::Case;
use simulation::run::run;

/// The number of seeds for each of the two tests, which run at the same time.
const SEEDS: u64 = 40;

fn check(seeds: impl Iterator<Item = u64>) {
    for seed in seeds {
        if let Some(violation) = run(&Case::new(seed), false).violation {
            panic!("seed {seed}: {violation}");
        }
    }
}

#[test]
fn even_seeds_violate_no_invariant() {
    check((0..SEEDS).map(|seed| 2 * seed));
}

#[test]
fn odd_seeds_violate_no_invariant() {
    check((0..SEEDS).map(|seed| 2 * seed + 1));
}

/// A seed is one run, whatever else runs at the same time.
#[test]
fn a_run_can_be_repeated() {
    for seed in 0..12 {
        let again = thread::spawn(move || run(&Case::new(seed), false).digest);
        let digest = run(&Case::new(seed), false).digest;
        assert_eq!(again.join().expect("a run"), digest, "seed {seed}");
    }
}

/// A case is the same run after it was written as JSON, and with the list of its faults instead of their seed.
#[test]
fn a_written_case_is_the_same_run() {
    use simulation::faults::FaultPlan;
    for seed in 0..12 {
        let case = Case::new(seed);
        let outcome = run(&case, false);
        let listed = Case { faults: FaultPlan::Only(outcome.fired), ..case };
        let json = serde_json::to_string(&listed).expect("JSON");
        let read: Case = serde_json::from_str(&json).expect("a case");
        assert_eq!(run(&read, false).digest, outcome.digest, "seed {seed}");
    }
}
