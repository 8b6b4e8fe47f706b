//! The tasks that run, and the rows that count them for each caller and tool.
//!
//! The rows are read as operators read them. Each task that runs is counted as long as it runs. When nothing works, nothing else is counted.
//! A task that does not exist yet is counted for a minute at most.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::faults::Point;
use crate::ledger::Invariant;
use crate::world::World;

/// The row with the state of a task, and the prefix of the rows that count.
const RECORD: &str = "task";
const COUNTED: &str = "active:";
/// The most time for which a task is counted that does not exist, in milliseconds.
const LEASE_MS: u64 = 60_000;
/// The time before the expiry of a task in which its row may expire first, in milliseconds.
const SOON_MS: u64 = 300_000;
/// The faults after which a place becomes free only when its task expires, because no message to the counter arrives, or because the call
/// ends between its place and its task.
const KEEPS: &[Point] = &[
    Point::MessageLost,
    Point::MessageAnswerLost,
    Point::ObjectEnds,
    Point::WriteFails,
    Point::WriteEnds,
    Point::IsolateEnds,
    Point::ClockJumps,
    Point::CallerLeaves,
    Point::AnswerLost,
    Point::AnswerCut,
    Point::AnswerEnds,
    Point::AnswerStalls,
];
/// The faults after which a task may run that is not counted.
const UNCOUNTED: &[Point] = &[Point::MessageLost, Point::MessageAnswerLost, Point::ClockJumps];

/// Returns whether a row is a part of the books.
pub fn counts(key: &str) -> bool {
    key == RECORD || key.starts_with(COUNTED)
}

/// An object: its name and its rows.
type Object<'r> = (&'r str, &'r BTreeMap<String, Vec<u8>>);

/// Checks the books of all objects. If `is_quiet`, each row that counts belongs to a task that runs.
pub fn check(world: &World, objects: &[Object<'_>], is_quiet: bool) {
    let now = world.schedule.now_ms();
    let counted = |rows: &BTreeMap<String, Vec<u8>>| rows.keys().filter(|key| key.starts_with(COUNTED)).count();
    // The running tasks by the objects that count them, and the number of those that expire soon.
    let (mut running, mut soon): (BTreeMap<String, usize>, usize) = (BTreeMap::new(), 0);
    for (_, rows) in objects {
        let Some(record) = rows.get(RECORD) else { continue };
        let record: Value = serde_json::from_slice(record).unwrap_or_default();
        if !matches!(record["status"].as_str(), Some("working" | "input_required")) {
            continue;
        }
        let time = |name: &str| record[name].as_u64().unwrap_or_default();
        if now + SOON_MS > time("createdMs") + time("ttlMs") {
            soon += 1;
            continue;
        }
        *running.entry(record["quota"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    if !world.faults.has_fired(UNCOUNTED) {
        check_leases(world, objects);
        for (counter, tasks) in &running {
            let rows = objects.iter().find(|(name, _)| name == counter).map_or(0, |(_, rows)| counted(rows));
            world.ledger.check(*tasks <= rows, Invariant::Books, || {
                format!("{tasks} tasks of {counter} run, and only {rows} are counted")
            });
        }
    }
    if is_quiet && !world.faults.has_fired(KEEPS) {
        // The alarm that deletes a place can ring late.
        let is_taken = |(key, row): &(&String, &Vec<u8>)| key.starts_with(COUNTED) && until_ms(row) > now;
        let rows = objects.iter().flat_map(|(_, rows)| rows.iter()).filter(is_taken).count();
        let tasks = running.values().sum::<usize>() + soon;
        world.ledger.check(rows <= tasks, Invariant::Books, || format!("{tasks} tasks run, and {rows} are counted"));
    }
}

/// Checks that each place that is taken for longer than a minute belongs to a task that exists.
fn check_leases(world: &World, objects: &[Object<'_>]) {
    let now = world.schedule.now_ms();
    for (key, row) in objects.iter().flat_map(|(_, rows)| rows.iter()) {
        let Some((task, _)) = key.strip_prefix(COUNTED).and_then(|place| place.split_once(' ')) else { continue };
        let exists = objects.iter().any(|(name, rows)| *name == task && rows.contains_key(RECORD));
        let until = until_ms(row);
        world.ledger.check(exists || until <= now + LEASE_MS, Invariant::Books, || {
            format!("the place {key} of a task that does not exist is taken until {until}, and it is {now}")
        });
    }
}

/// Returns the time until which a place is taken.
fn until_ms(row: &[u8]) -> u64 {
    let row: Value = serde_json::from_slice(row).unwrap_or_default();
    row["untilMs"].as_u64().unwrap_or(u64::MAX)
}
