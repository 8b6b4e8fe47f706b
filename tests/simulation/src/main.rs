//! Runs cases until the time is over or an invariant is violated: see README.md.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use simulation::case::Case;
use simulation::faults::{Count, Point};
use simulation::ledger::Violation;
use simulation::run::{Outcome, run};
use simulation::shrink::{Shrunk, shrink, test_of};

const USAGE: &str = "usage: simulation [--seconds N] [--seed S] [--runs N] [--threads N] [--no-shrink] [--all] [--show SEED] [--case FILE]";

struct Settings {
    seconds: u64,
    first: u64,
    runs: u64,
    threads: usize,
    /// Whether a failing case is made smaller.
    shrinks: bool,
    /// Whether the runs go on after a violation.
    goes_on: bool,
    /// The seed of the one run whose events are printed.
    show: Option<u64>,
    /// The file with the one case whose events are printed.
    case: Option<String>,
}

/// The findings of all threads.
struct Found {
    next: AtomicU64,
    events: AtomicU64,
    is_over: AtomicBool,
    counts: Mutex<Vec<Count>>,
    /// The seed that violates an invariant, and the time after which it was found.
    failure: Mutex<Option<(u64, Violation, Duration)>>,
}

fn main() -> ExitCode {
    let settings = match settings() {
        Ok(settings) => settings,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if let Some(case) = shown(&settings) {
        let outcome = run(&case, true);
        println!("{} events, digest {:x}", outcome.events, outcome.digest);
        return report(&case, outcome.violation);
    }
    simulate(&settings)
}

/// Returns the case to show.
fn shown(settings: &Settings) -> Option<Case> {
    let of_file = settings.case.as_ref().map(|file| {
        let text = std::fs::read_to_string(file).expect("the file can be read");
        serde_json::from_str(&text).expect("the file is a case")
    });
    of_file.or_else(|| settings.show.map(Case::new))
}

fn report(case: &Case, violation: Option<Violation>) -> ExitCode {
    match violation {
        Some(violation) => {
            println!("{}", test_of(case, &violation));
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    }
}

fn simulate(settings: &Settings) -> ExitCode {
    let found = Found {
        next: AtomicU64::new(settings.first),
        events: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
        counts: Mutex::new(vec![Count::default(); Point::ALL.len()]),
        failure: Mutex::new(None),
    };
    // A violation is reported, so a panic must not be printed as well.
    std::panic::set_hook(Box::new(|_| {}));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..settings.threads {
            scope.spawn(|| work(settings, &found, began));
        }
        let mut printed = Instant::now();
        while !found.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
            if printed.elapsed() > Duration::from_secs(10) {
                printed = Instant::now();
                println!("{}", progress(settings, &found, began));
            }
        }
    });
    println!("{}", progress(settings, &found, began));
    let failure = found.failure.lock().expect("no thread panics").clone();
    if let Some((seed, violation, time)) = failure {
        let text = violation.to_string().replace('\n', " ");
        println!("\nseed {seed} violates {text} (after {:.1} s)", time.as_secs_f64());
        if !settings.shrinks || settings.goes_on {
            return ExitCode::FAILURE;
        }
        println!("\nThe case is made smaller …");
        let Shrunk { case, violation, runs } = shrink(&Case::new(seed), violation);
        println!("This is the smallest case after {runs} runs. Copy it to tests/runs.rs while you mend the fault:\n");
        return report(&case, Some(violation));
    }
    coverage(&found, began.elapsed())
}

/// Runs cases until the end.
fn work(settings: &Settings, found: &Found, began: Instant) {
    while !found.is_over.load(Ordering::Relaxed) {
        let seed = found.next.fetch_add(1, Ordering::Relaxed);
        if seed - settings.first >= settings.runs || began.elapsed() > Duration::from_secs(settings.seconds) {
            break;
        }
        let Outcome { violation, events, counts, .. } = run(&Case::new(seed), false);
        found.events.fetch_add(events, Ordering::Relaxed);
        let mut all = found.counts.lock().expect("no thread panics");
        for (all, count) in all.iter_mut().zip(counts) {
            all.reached += count.reached;
            all.fired += count.fired;
        }
        drop(all);
        if let Some(violation) = violation {
            if settings.goes_on {
                println!("seed {seed} violates {violation}");
            }
            found.failure.lock().expect("no thread panics").get_or_insert((seed, violation, began.elapsed()));
            if !settings.goes_on {
                break;
            }
        }
    }
    found.is_over.store(true, Ordering::Relaxed);
}

fn progress(settings: &Settings, found: &Found, began: Instant) -> String {
    let runs = found.next.load(Ordering::Relaxed) - settings.first;
    let counts = found.counts.lock().expect("no thread panics");
    let faults: u64 = counts.iter().map(|count| count.fired).sum();
    let events = found.events.load(Ordering::Relaxed);
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
    format!(
        "{:>5} s  {runs} runs ({} per minute)  {events} events ({} per second)  {faults} faults ({} per second)",
        ms / 1000,
        runs * 60_000 / ms,
        events * 1000 / ms,
        faults * 1000 / ms,
    )
}

/// Prints how often each point was reached. A point without a fault is an error, if there was enough time.
fn coverage(found: &Found, time: Duration) -> ExitCode {
    let counts = found.counts.lock().expect("no thread panics");
    println!("\n{:<20}{:>12}{:>10}", "point", "reached", "faults");
    let mut never = BTreeMap::new();
    for ((point, _, about), count) in Point::ALL.iter().zip(counts.iter()) {
        println!("{:<20}{:>12}{:>10}", format!("{point:?}"), count.reached, count.fired);
        if count.fired == 0 {
            never.insert(format!("{point:?}"), about);
        }
    }
    println!("\n{} s, no invariant was violated.", time.as_secs());
    for (point, about) in &never {
        println!("error: the fault {point} has never happened. {about}");
    }
    if never.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn settings() -> Result<Settings, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut settings = Settings {
        seconds: 60,
        first: 0,
        runs: u64::MAX,
        threads,
        shrinks: true,
        goes_on: false,
        show: None,
        case: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "--no-shrink" => settings.shrinks = false,
            "--all" => settings.goes_on = true,
            _ => set(&mut settings, &name, arguments.next())?,
        }
    }
    Ok(settings)
}

/// Sets the option `name`.
fn set(settings: &mut Settings, name: &str, value: Option<String>) -> Result<(), String> {
    let value = value.ok_or_else(|| format!("{name} needs a value"))?;
    let number = value.parse::<u64>().map_err(|_| format!("{name} needs a number, and got {value}"));
    match name {
        "--seconds" => settings.seconds = number?,
        "--seed" => settings.first = number?,
        "--runs" => settings.runs = number?,
        "--threads" => settings.threads = usize::try_from(number?.max(1)).unwrap_or(1),
        "--show" => settings.show = Some(number?),
        "--case" => settings.case = Some(value),
        _ => return Err(format!("{name} is not an option")),
    }
    Ok(())
}
