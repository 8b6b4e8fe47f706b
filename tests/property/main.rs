//! Whatever is sent, the answer is a JSON-RPC message, a stream of them, or nothing; never a 5xx; with the id as it was
//! sent.
//!
//! Requests are made at random, the same in each run: from noise to good ones of both eras. A failure prints the seed of its
//! case; `PROPERTY_SEED=<seed>` runs that case alone and prints the request.

// A test may stop at the first surprise. What is public is for the fuzz targets, which share it.
#![allow(
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::arithmetic_side_effects
)]

mod holds;
mod json;
mod random;
mod requests;
mod specimen;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use edge_mcp::Endpoint;
use serde_json::Value;

use holds::Seen;
use random::Random;
use requests::{Known, LEGACY_METHODS, MODERN_METHODS, Made, SHARED_METHODS};
use specimen::Asked;

const CASES: u64 = 20_000;

/// What was reached, and how often.
#[derive(Debug, Default)]
struct Reached(BTreeMap<String, u32>);

impl Reached {
    fn one(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    fn note(&mut self, status: u16, body: &[u8], seen: &Seen) {
        self.one(format!("status {status}"));
        for code in seen.responses.iter().filter_map(|response| response["error"]["code"].as_i64()) {
            self.one(format!("error {code}"));
        }
        for notification in &seen.notifications {
            self.one(notification["method"].as_str().unwrap_or_default());
        }
        let Ok(asked) = serde_json::from_slice::<Value>(body) else { return };
        if seen.is_batch {
            self.one("batch");
            return;
        }
        let [Value::Object(response)] = seen.responses.as_slice() else { return };
        let Some(result) = response.get("result") else { return };
        let (method, params) = (asked["method"].as_str().unwrap_or_default(), &asked["params"]);
        let era = if result.get("resultType").is_some() { "modern" } else { "legacy" };
        if result["isError"] == true {
            self.one(format!("{era} failure of a tool"));
        } else if result["resultType"] == "input_required" {
            self.one(format!("question of {method}"));
        } else {
            self.one(format!("{era} {method}"));
            for param in ["cursor", "requestState"] {
                if params.get(param).is_some() {
                    self.one(format!("{era} {method} with {param}"));
                }
            }
        }
    }
}

/// Asks, and checks the answer.
fn run(seed: u64, endpoint: &Rc<Endpoint>, known: &Known, reached: &mut Reached) {
    let Made { asked, has_good_head } = requests::request(&mut Random::new(seed), known);
    let fail = |why: &str| -> ! {
        let body = String::from_utf8_lossy(&asked.body);
        let headers: Vec<_> =
            asked.headers.iter().map(|(name, value)| format!("{name}: {:?}", String::from_utf8_lossy(value))).collect();
        panic!("seed {seed}: {why}\n{:?} {:?}\n{}\n\n{body}", asked.verb, asked.url, headers.join("\n"));
    };
    let answer = catch_unwind(AssertUnwindSafe(|| specimen::ask_at(endpoint, asked.clone())));
    let Ok(answer) = answer else { fail("there was a panic") };
    if answer.status() == 0 {
        fail(answer.text());
    }
    let answered = || String::from_utf8_lossy(answer.body());
    match holds::check(&asked, &answer) {
        Err(problem) => fail(&format!("{problem}\n{} {}", answer.status(), answered())),
        Ok(held) if has_good_head && held.is_refused_unread => fail(&format!("a good head is refused: {}", answered())),
        Ok(held) => reached.note(answer.status(), &asked.body, &held),
    }
}

#[test]
fn every_answer_is_a_message_or_nothing() {
    let endpoint = Rc::new(specimen::endpoint());
    let known = Known::of(&endpoint);
    let mut reached = Reached::default();
    if let Ok(seed) = std::env::var("PROPERTY_SEED") {
        run(seed.parse().expect("PROPERTY_SEED is a number"), &endpoint, &known, &mut reached);
        return println!("{reached:#?}");
    }
    for seed in 0..CASES {
        run(seed, &endpoint, &known, &mut reached);
    }
    println!("{reached:#?}");
    // Nothing was shown if nothing was tried.
    let shared = ["legacy", "modern"].iter().flat_map(|era| SHARED_METHODS.map(|method| format!("{era} {method}")));
    let legacy = LEGACY_METHODS.map(|method| format!("legacy {method}"));
    let modern = MODERN_METHODS.map(|method| format!("modern {method}"));
    let statuses = [200, 202, 204, 400, 401, 403, 404, 405, 406, 413, 415].map(|status| format!("status {status}"));
    let codes = [-32_700, -32_600, -32_601, -32_602, -32_603, -32_002, -32_020, -32_021, -32_022];
    let codes = codes.map(|code| format!("error {code}"));
    let others = [
        "batch",
        "notifications/progress",
        "notifications/message",
        "notifications/subscriptions/acknowledged",
        "question of tools/call",
        "question of prompts/get",
        "question of resources/read",
        "modern tools/call with requestState",
        "modern prompts/get with requestState",
        "modern resources/read with requestState",
        "modern tools/list with cursor",
        "legacy resources/list with cursor",
        "modern failure of a tool",
        "legacy failure of a tool",
    ];
    let wanted = shared.chain(legacy).chain(modern).chain(statuses).chain(codes).chain(others.map(String::from));
    let missed: Vec<_> = wanted.filter(|what| !reached.0.contains_key(what)).collect();
    assert!(missed.is_empty(), "never reached: {missed:?}");
}

/// What a fuzz target starts from is good: each of these is served.
#[test]
fn seeds_are_good_requests() {
    let endpoint = Rc::new(specimen::endpoint());
    let seeds =
        fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/property/seeds")).expect("the folder is there");
    let mut count = 0;
    for seed in seeds {
        let path = seed.expect("an entry").path();
        let asked = Asked::read(&fs::read(&path).expect("a file"));
        let answer = specimen::ask_at(&endpoint, asked.clone());
        let seen = holds::check(&asked, &answer).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        let are_results = seen.responses.iter().all(|response| response["result"].is_object());
        assert!(answer.status() == 200 && are_results, "{}: {:?}", path.display(), seen.responses);
        count += 1;
    }
    assert!(count > 10, "{count} seeds");
}
