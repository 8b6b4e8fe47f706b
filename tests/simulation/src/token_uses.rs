//! The uses of codes and refresh tokens by the program: each is sent once, unless the program cannot know whether it was used.
//!
//! A second use of a refresh token is permitted only if the answer to the first one did not arrive whole, if the isolate of the first one
//! has ended, if the clock has jumped, or if the token store failed to the end of the lease or was slow. Without such an event, the lease must prevent it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use edge_mcp::host::{FetchError, Opened};
use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};
use serde_json::Value;

use crate::authorization::{COUNT, issuer};
use crate::faults::Point;
use crate::ledger::Invariant;
use crate::network::Sent;
use crate::schedule::Owner;
use crate::sign_in_rows::key_of;
use crate::world::World;

/// The time in milliseconds that is left of a lease when a refresh token is used. A write that fails is repeated in this time.
const LEASE_MS: u64 = 5000;
/// The longest time of an operation of the token store that is not slow, in milliseconds.
const SLOW_MS: u64 = 20;

/// The uses, and the operations of the token store.
#[derive(Default)]
pub struct Uses {
    uses: RefCell<BTreeMap<String, Vec<Rc<Use>>>>,
    accesses: RefCell<Vec<Rc<Record>>>,
}

/// A request to a token endpoint with a code or a refresh token.
pub struct Use {
    owner: Owner,
    at: u64,
    outcome: Cell<Outcome>,
}

/// The time for which the program waits for an answer, in milliseconds.
const PATIENCE: u64 = 5000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Open,
    /// The answer had no tokens, or did not arrive whole in time.
    Failed,
    /// The program has stopped to wait before the end of its patience.
    Abandoned,
    /// The program has the new tokens.
    Issued,
}

impl Uses {
    /// Records a request of an isolate, if it uses a code or a refresh token.
    pub fn begin(&self, world: &World, owner: Owner, request: &Sent) -> Option<Rc<Use>> {
        (0..COUNT).find(|number| request.url.strip_prefix(&issuer(*number)) == Some("/token"))?;
        // A code without its verifier has no effect, so the verifier counts.
        let body = form_urlencoded::parse(&request.body);
        let (kind, token) = body.into_owned().find(|(name, _)| name == "code_verifier" || name == "refresh_token")?;
        let mut uses = self.uses.borrow_mut();
        let earlier = uses.entry(token.clone()).or_default();
        if kind == "code_verifier" {
            world.ledger.check(earlier.is_empty(), Invariant::OneRefresh, || "a sign-in is finished twice".to_owned());
        } else {
            for earlier in earlier.iter() {
                world.ledger.check(self.is_excused(world, earlier, &token), Invariant::OneRefresh, || {
                    let ms = world.schedule.now_ms() - earlier.at;
                    format!("the refresh token {token} is used again after {ms} ms: {:?}", earlier.outcome.get())
                });
            }
        }
        let begun = Use { owner, at: world.schedule.now_ms(), outcome: Cell::new(Outcome::Open) };
        earlier.push(Rc::new(begun));
        earlier.last().cloned()
    }

    /// Returns whether a refresh token may be used again after this use.
    fn is_excused(&self, world: &World, earlier: &Use, token: &str) -> bool {
        if earlier.outcome.get() == Outcome::Failed || world.schedule.is_dead(earlier.owner) {
            return true;
        }
        let Some((person, server, jumps)) = world.sign_ins.grants.of_refresh_token(token) else { return false };
        let (key, now) = (key_of(world, &person, server), world.schedule.now_ms());
        let is_trouble = |record: &Rc<Record>| {
            let end = record.end.get().unwrap_or(now);
            let is_lost = record.has_failed.get() && end >= earlier.at + LEASE_MS;
            let is_slow = is_lost || end - record.begin > SLOW_MS;
            // The operations before the use cannot be the reason, because the program checks its lease after them.
            record.key == key && is_slow && end >= earlier.at
        };
        world.faults.fired_at(Point::ClockJumps) > jumps || self.accesses.borrow().iter().any(is_trouble)
    }
}

/// The future that sends a request.
type Sending = LocalBoxFuture<'static, Result<Opened, FetchError>>;

impl Use {
    /// Records whether the answer to a request arrives.
    pub fn watch(world: &Rc<World>, begun: Option<Rc<Self>>, sending: Sending) -> Sending {
        let Some(begun) = begun else { return sending };
        let ending = Ending(world.clone(), begun);
        let watched = async move {
            let opened = sending.await;
            if opened.is_err() {
                ending.1.outcome.set(Outcome::Failed);
            }
            let Opened { status, headers, body } = opened?;
            let watched = Watched { ending, is_ok: status == 200, body, read: Vec::new() };
            Ok(Opened { status, headers, body: futures::stream::unfold(watched, Watched::next).boxed_local() })
        };
        watched.boxed_local()
    }
}

/// Records the outcome of a use when nobody reads its answer any more.
struct Ending(Rc<World>, Rc<Use>);

impl Drop for Ending {
    fn drop(&mut self) {
        let Self(world, begun) = self;
        if begun.outcome.get() == Outcome::Open {
            let is_late = world.schedule.now_ms() >= begun.at + PATIENCE;
            begun.outcome.set(if is_late { Outcome::Failed } else { Outcome::Abandoned });
        }
    }
}

struct Watched<B> {
    ending: Ending,
    is_ok: bool,
    body: B,
    read: Vec<u8>,
}

impl<B: futures::Stream<Item = Result<Vec<u8>, FetchError>> + Unpin> Watched<B> {
    async fn next(mut self) -> Option<(Result<Vec<u8>, FetchError>, Self)> {
        let chunk = self.body.next().await;
        if let Some(Ok(chunk)) = chunk {
            self.read.extend(&chunk);
            return Some((Ok(chunk), self));
        }
        let answer: Value = serde_json::from_slice(&self.read).unwrap_or_default();
        let is_issued = chunk.is_none() && self.is_ok && answer["access_token"].is_string();
        self.ending.1.outcome.set(if is_issued { Outcome::Issued } else { Outcome::Failed });
        chunk.map(|chunk| (chunk, self))
    }
}

/// An operation of the token store.
struct Record {
    key: String,
    begin: u64,
    end: Cell<Option<u64>>,
    has_failed: Cell<bool>,
}

/// An operation of the token store that has not ended. If its isolate ends, it has failed.
pub struct Access {
    world: Rc<World>,
    owner: Owner,
    record: Rc<Record>,
}

impl Access {
    pub fn begin(world: &Rc<World>, owner: Owner, key: &str) -> Self {
        let begin = world.schedule.now_ms();
        let (end, has_failed) = (Cell::new(None), Cell::new(false));
        let record = Rc::new(Record { key: key.to_owned(), begin, end, has_failed });
        world.sign_ins.uses.accesses.borrow_mut().push(record.clone());
        Self { world: world.clone(), owner, record }
    }

    pub fn end(self, has_failed: bool) {
        self.record.has_failed.set(has_failed);
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        self.record.end.set(Some(self.world.schedule.now_ms()));
        self.world.trace(|| {
            let Record { key, begin, has_failed, .. } = &*self.record;
            let ms = self.world.schedule.now_ms() - begin;
            format!("{:?} uses the row {key} for {ms} ms, failed: {}", self.owner, has_failed.get())
        });
        if self.world.schedule.is_dead(self.owner) {
            self.record.has_failed.set(true);
        }
    }
}
