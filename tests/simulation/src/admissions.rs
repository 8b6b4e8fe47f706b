//! The rate limit of the program, and the work that it admits: each request starts at most as many handlers as it was counted. A caller
//! without a valid token causes no work once its address is over its limit.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edge_mcp::host::RateLimit;
use futures::FutureExt;
use serde_json::json;

use crate::case::Plan;
use crate::faults::Point;
use crate::identities::{self, AUDIENCE, EXPIRES, ISSUER};
use crate::ledger::Invariant;
use crate::network::Sent;
use crate::program;
use crate::schedule::Owner;
use crate::world::World;

/// The period of the limit.
const PERIOD: Duration = Duration::from_mins(1);
/// The requests of a key within a period while a caller floods the program.
const MOST: u32 = 5;
/// The requests of a caller that floods the program.
const FLOOD: usize = 30;
/// The requests of a flood whose signature each isolate may check, although their address is over its limit: the isolate does not know it yet.
const UNKNOWN: usize = 2;

/// The work of a task of the schedule: a request has one.
#[derive(Clone, Copy, Default)]
struct Work {
    admissions: u32,
    handlers: u32,
    signatures: u32,
}

/// The work that was admitted and done.
#[derive(Default)]
pub struct Admissions {
    works: RefCell<BTreeMap<u64, Work>>,
    /// The requests of each key in this period, while a caller floods the program.
    flood: RefCell<Option<BTreeMap<String, u32>>>,
}

/// Returns the rate limit of an isolate.
pub fn limit(world: &Rc<World>) -> RateLimit {
    let world = world.clone();
    RateLimit::new(PERIOD, move |key| {
        let world = world.clone();
        async move {
            if world.faults.at(Point::LimitReached).is_some() || world.admissions.is_over(key) {
                return Ok(false);
            }
            world.admissions.change(&world, |work| work.admissions += 1);
            match world.faults.at(Point::LimitFails) {
                Some(_) => Err("the counter does not answer".to_owned()),
                None => Ok(true),
            }
        }
    })
}

impl Admissions {
    fn change(&self, world: &World, change: impl FnOnce(&mut Work)) -> Work {
        let mut works = self.works.borrow_mut();
        let work = works.entry(world.schedule.current()).or_default();
        change(work);
        *work
    }

    /// Counts a request of a flood. Returns whether its key is over the limit.
    fn is_over(&self, key: String) -> bool {
        let mut flood = self.flood.borrow_mut();
        let Some(counts) = &mut *flood else { return false };
        let count = counts.entry(key).or_default();
        *count += 1;
        *count > MOST
    }

    /// Records that a request starts a handler.
    pub fn started(&self, world: &World, handler: &str) {
        let Work { admissions, handlers, .. } = self.change(world, |work| work.handlers += 1);
        world.ledger.check(handlers <= admissions, Invariant::CountedWork, || {
            format!(
                "a request that was counted {admissions} times starts {handlers} handlers, the last one is {handler}"
            )
        });
    }

    /// Records that a request checks a signature.
    pub fn verified(&self, world: &World) {
        self.change(world, |work| work.signatures += 1);
    }
}

/// Lets somebody without a valid token send many requests, after everything else, if the program has an issuer with published keys.
pub fn flood(world: &Rc<World>, plan: &Plan) {
    if !identities::has_issuer(plan) {
        return;
    }
    world.faults.stop();
    let (of_flood, isolates) = (world.clone(), plan.isolates);
    let flood = async move {
        let world = of_flood;
        world.admissions.works.take();
        world.admissions.flood.replace(Some(BTreeMap::new()));
        for number in 0..FLOOD {
            send(&world, number).await;
        }
        world.admissions.flood.take();
        let works = world.admissions.works.take();
        let unadmitted = works.values().filter(|work| work.signatures > 0 && work.admissions == 0).count();
        world.ledger.check(unadmitted <= UNKNOWN * isolates, Invariant::CountedWork, || {
            format!("{unadmitted} of {FLOOD} requests over the limit of their address check signatures")
        });
    };
    world.schedule.spawn(Owner::World, flood.boxed_local());
}

/// Sends a request with a token that nobody has signed, and that names no key.
async fn send(world: &Rc<World>, number: usize) {
    let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = part(json!({ "alg": "ES256", "typ": "at+jwt" }));
    // With other claims, no signature is checked.
    let claims = part(json!({ "iss": ISSUER, "sub": number.to_string(), "aud": AUDIENCE, "exp": EXPIRES }));
    let token = format!("{header}.{claims}.{}", URL_SAFE_NO_PAD.encode([7; 64]));
    let message = json!({ "jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {} });
    let request = Sent::post(program::URL, message.to_string().into_bytes())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("authorization", &format!("Bearer {token}"))
        .header("mcp-protocol-version", "2025-11-25");
    let status = world.send(request).await.map(|opened| opened.status).unwrap_or_default();
    world.ledger.check(matches!(status, 401 | 429 | 503), Invariant::OwnAccess, || {
        format!("a request with a token that nobody has signed gets the status {status}")
    });
}
