//! Runs cases: see README.md.

use simulation::case::Case;
use simulation::run::run;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let from: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let to: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(from + 1);
    for seed in from..to {
        let case = Case::new(seed);
        let outcome = run(&case, to == from + 1);
        if let Some(violation) = outcome.violation {
            println!("seed {seed}: {violation}");
        }
    }
}
