//! The memory for request bodies, which each request reserves and releases.

use std::rc::Rc;

use futures::StreamExt;
use futures::channel::{mpsc, oneshot};

use crate::ledger::Invariant;
use crate::network::Sent;
use crate::program;
use crate::world::World;

/// The memory for all bodies of an isolate, which is also the size of the largest body.
pub const IN_FLIGHT: usize = 4 << 20;
/// The time after the last caller in which the requests of the program end, in seconds. It is less than the time after which a reservation
/// expires.
const SECONDS: usize = 120;

/// The refusals after which the memory counts as lost.
const REFUSALS: usize = 5;

/// Checks after the end of all callers that a request can reserve all memory. Each caller holds a sender of `callers`.
pub async fn check(world: Rc<World>, mut callers: mpsc::UnboundedReceiver<()>) {
    while callers.next().await.is_some() {}
    let mut refusals = 0;
    for _ in 0..SECONDS {
        if world.schedule.is_idle() && !world.deployments.current().is_broken {
            match probe(&world).await {
                Some(503 | 413) => refusals += 1,
                _ => return,
            }
        }
        // A request that the network repeats can arrive just before the probe.
        if refusals > REFUSALS {
            let problem = "the memory of requests that have ended is still reserved";
            return world.ledger.violate(Invariant::NothingLeft, problem);
        }
        world.schedule.sleep(1000).await;
    }
}

/// Sends a request that reserves all memory, and returns the status of the answer. Nothing fails on its way. Without an answer, the isolate
/// has ended.
async fn probe(world: &World) -> Option<u16> {
    let (program, caller) = (world.services.at(program::URL)?, world.callers.first()?);
    let mut request = Sent::post(program::URL, b"{}".to_vec())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("authorization", &world.bearer(caller));
    request.headers.retain(|(name, _)| name != "content-length");
    let request = request.header("content-length", &IN_FLIGHT.to_string());
    let (answer, head) = oneshot::channel();
    program.serve(request, answer);
    head.await.ok().map(|head| head.status)
}
