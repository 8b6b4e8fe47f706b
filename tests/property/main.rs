//! Random requests. Each answer is a JSON-RPC message, a stream of messages, or empty. Its status is never 5xx, and its id is the id that
//! was sent.
//!
//! The requests range from noise to valid requests of both eras. They are the same in each run. A failure prints the seed of its case and
//! the request. `PROPERTY_SEED=<seed>` runs only this case.

// Tests may panic when an assumption fails. Some items are public for the fuzz targets, which share these modules.
#![allow(
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::arithmetic_side_effects
)]

mod invariants;
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

use invariants::CheckedAnswer;
use random::Random;
use requests::{Generated, Known, LEGACY_METHODS, MODERN_METHODS, SHARED_METHODS};
use specimen::RawRequest;

const CASES: u64 = 6_000;

/// How often the answers had each status, error code, method and kind of result.
#[derive(Debug, Default)]
struct Coverage(BTreeMap<String, u32>);

impl Coverage {
    fn count(&mut self, name: impl Into<String>) {
        *self.0.entry(name.into()).or_default() += 1;
    }

    fn record(&mut self, status: u16, body: &[u8], answer: &CheckedAnswer) {
        self.count(format!("status {status}"));
        for code in answer.responses.iter().filter_map(|response| response["error"]["code"].as_i64()) {
            self.count(format!("error {code}"));
        }
        for notification in &answer.notifications {
            self.count(notification["method"].as_str().unwrap_or_default());
        }
        let Ok(request) = serde_json::from_slice::<Value>(body) else { return };
        if answer.is_batch {
            self.count("batch");
            return;
        }
        let [Value::Object(response)] = answer.responses.as_slice() else { return };
        let Some(result) = response.get("result") else { return };
        let (method, params) = (request["method"].as_str().unwrap_or_default(), &request["params"]);
        let era = if result.get("resultType").is_some() { "modern" } else { "legacy" };
        if result["isError"] == true {
            self.count(format!("{era} failure of a tool"));
        } else if result["resultType"] == "input_required" {
            self.count(format!("question of {method}"));
        } else {
            self.count(format!("{era} {method}"));
            for param in ["cursor", "requestState"] {
                if params.get(param).is_some() {
                    self.count(format!("{era} {method} with {param}"));
                }
            }
        }
    }
}

/// Sends the request for this seed, and checks the answer.
fn run(seed: u64, endpoint: &Rc<Endpoint>, known: &Known, coverage: &mut Coverage) {
    let Generated { request, has_valid_head } = requests::request(&mut Random::new(seed), known);
    let fail = |problem: &str| -> ! {
        let body = String::from_utf8_lossy(&request.body);
        let header = |(name, value): &(String, Vec<u8>)| format!("{name}: {:?}", String::from_utf8_lossy(value));
        let headers: Vec<_> = request.headers.iter().map(header).collect();
        panic!("seed {seed}: {problem}\n{:?} {:?}\n{}\n\n{body}", request.verb, request.url, headers.join("\n"));
    };
    let answer = catch_unwind(AssertUnwindSafe(|| specimen::ask_at(endpoint, request.clone())));
    let Ok(answer) = answer else { fail("the endpoint panics") };
    if answer.status() == 0 {
        fail(answer.text());
    }
    let body = || String::from_utf8_lossy(answer.body());
    match invariants::check(&request, &answer) {
        Err(problem) => fail(&format!("{problem}\n{} {}", answer.status(), body())),
        Ok(checked) if has_valid_head && checked.is_rejected_unread => {
            fail(&format!("a valid head is rejected: {}", body()));
        }
        Ok(checked) => coverage.record(answer.status(), &request.body, &checked),
    }
}

#[test]
fn every_answer_is_a_message_a_stream_or_empty() {
    let endpoint = Rc::new(specimen::endpoint());
    let known = Known::of(&endpoint);
    let mut coverage = Coverage::default();
    if let Ok(seed) = std::env::var("PROPERTY_SEED") {
        run(seed.parse().expect("PROPERTY_SEED is a number"), &endpoint, &known, &mut coverage);
        return println!("{coverage:#?}");
    }
    for seed in 0..CASES {
        run(seed, &endpoint, &known, &mut coverage);
    }
    println!("{coverage:#?}");
    // The test is meaningful only if the requests reach every method, status and error code.
    let shared = ["legacy", "modern"].iter().flat_map(|era| SHARED_METHODS.map(|method| format!("{era} {method}")));
    let legacy = LEGACY_METHODS.map(|method| format!("legacy {method}"));
    let modern = MODERN_METHODS.map(|method| format!("modern {method}"));
    let statuses =
        [200, 202, 204, 308, 400, 401, 403, 404, 405, 406, 413, 415].map(|status| format!("status {status}"));
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
    let expected = shared.chain(legacy).chain(modern).chain(statuses).chain(codes).chain(others.map(String::from));
    let missing: Vec<_> = expected.filter(|name| !coverage.0.contains_key(name)).collect();
    assert!(missing.is_empty(), "not reached: {missing:?}");
}

/// The fuzz target `endpoint` starts from these seeds. Each seed is a valid request that gets a result.
#[test]
fn seeds_are_valid_requests() {
    let endpoint = Rc::new(specimen::endpoint());
    let seeds = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/property/seeds")).expect("the folder exists");
    let mut count = 0;
    for seed in seeds {
        let path = seed.expect("an entry").path();
        let request = RawRequest::parse(&fs::read(&path).expect("a file"));
        let answer = specimen::ask_at(&endpoint, request.clone());
        let checked = invariants::check(&request, &answer);
        let checked = checked.unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        let are_results = checked.responses.iter().all(|response| response["result"].is_object());
        assert!(answer.status() == 200 && are_results, "{}: {:?}", path.display(), checked.responses);
        count += 1;
    }
    assert!(count > 10, "{count} seeds");
}
