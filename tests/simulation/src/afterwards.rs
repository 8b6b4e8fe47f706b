//! What callers do after a run, when nothing fails any more: everything succeeds within a bounded number of tries.

use std::rc::Rc;

use futures::FutureExt;
use serde_json::{Value, json};

use crate::caller::{Arrived, Caller};
use crate::case::{CallerPlan, Operation, Plan};
use crate::ledger::{Invariant, mark};
use crate::parts::Part;
use crate::passages::Work;
use crate::schedule::Owner;
use crate::tables;
use crate::upstream;
use crate::world::World;

/// The number before that of the first call, which is greater than those of the run.
const FIRST: u32 = 1000;
/// The most tries of an operation, and the most calls after which all passages have vectors.
const TRIES: usize = 6;
/// The pause after a try that has failed, in milliseconds.
const PAUSE_MS: u64 = 200_000;
const EMBEDDINGS: usize = 10;

/// Starts the last operations of all callers. No lease is left then. At the end, each person removes all accesses.
pub fn begin(world: &Rc<World>, plan: &Plan) {
    let all = 0..plan.servers.len();
    let servers: Vec<usize> =
        all.filter(|server| plan.is_thorough || plan.servers[*server].sign_in.is_some()).collect();
    if servers.is_empty() && !plan.is_thorough {
        return;
    }
    world.faults.stop();
    for (number, caller) in (0_u64..).zip(&plan.callers) {
        let mut operations = vec![Operation::Wait(30_000)];
        operations.extend(servers.iter().map(|server| Operation::Probe(*server)));
        if plan.is_thorough {
            let step = vec![Part::Step("a".to_owned(), Vec::new())];
            operations.extend(["direct", "durable"].map(|tool| Operation::Call(tool.to_owned(), step.clone())));
        }
        if plan.is_thorough && plan.passages.as_ref().is_some_and(|passages| passages.has_vectors) {
            operations.push(Operation::Settle);
        }
        let with_sign_in = servers.iter().filter(|server| plan.servers[**server].sign_in.is_some());
        operations.extend(with_sign_in.map(|server| Operation::Forget(*server)));
        let plan = CallerPlan {
            is_modern: true,
            has_tasks: false,
            has_progress: false,
            has_browser: false,
            operations,
            ..caller.clone()
        };
        let caller = Caller::new(world, &plan, &Rc::default(), number).number_from(FIRST);
        world.schedule.spawn(Owner::World, caller.run().boxed_local());
    }
}

impl Caller {
    /// Runs a part, and returns the answer of the program.
    async fn run_part(&self, part: Part) -> Arrived {
        let owned = mark(self.name(), "probe");
        let parts = [part];
        let arguments = json!({ "caller": self.name(), "owned": owned, "place": "", "parts": parts });
        self.post("tools/call", json!({ "name": "direct", "arguments": arguments }), Some("direct")).await
    }

    /// Calls a server. A person whose access was lost signs in first.
    pub async fn probe(&self, server: usize) {
        let mut answer = Value::Null;
        for number in 1..=TRIES {
            let part = Part::Remote { server, number: u32::try_from(number).unwrap_or_default(), asks: false };
            answer = self.run_part(part).await.unwrap_or_default();
            let text = answer.to_string();
            if text.contains(&upstream::done(server, number.try_into().unwrap_or_default())) {
                return;
            }
            if text.contains("requires you to sign in") {
                self.browser().check_lost(server);
                if self.browser().sign_in(server).await {
                    continue;
                }
            }
            self.world().schedule.sleep(PAUSE_MS).await;
        }
        self.violate(Invariant::Progress, format!("after the faults, {TRIES} calls of s{server} fail: {answer}"));
    }

    /// Calculates vectors until all passages have one, except for those that the model refuses.
    pub async fn settle(&self) {
        for _ in 0..EMBEDDINGS {
            self.run_part(Part::Passages(Work::Embed)).await;
        }
        let Some(shelf) = self.world().shelf.get() else { return };
        let pending = tables::pending_texts(&shelf.sqlite, self.name());
        let pending: Vec<_> = pending.into_iter().filter(|text| !crate::embeddings::is_refused(text)).collect();
        self.world().ledger.check(pending.is_empty(), Invariant::Progress, || {
            format!(
                "after the faults, {EMBEDDINGS} calls leave passages of {} without vectors: {pending:?}",
                self.name()
            )
        });
    }
}
