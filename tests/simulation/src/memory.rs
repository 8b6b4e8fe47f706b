//! The memory for request bodies, which each request reserves and releases.

use std::rc::Rc;

use futures::StreamExt;
use futures::channel::{mpsc, oneshot};

use crate::ledger::Invariant;
use crate::network::Sent;
use crate::program::{self, token};
use crate::world::World;

/// The memory for all bodies of an isolate, which is also the size of the largest body.
pub const IN_FLIGHT: usize = 4 << 20;
/// The time after the last caller in which the requests of the program end, in seconds. It is less than the time after which a reservation
/// expires.
const SECONDS: usize = 120;

/// Checks after the end of all callers that a request can reserve all memory. Each caller holds a sender of `callers`.
pub async fn check(world: Rc<World>, mut callers: mpsc::UnboundedReceiver<()>) {
    while callers.next().await.is_some() {}
    for _ in 0..SECONDS {
        if world.schedule.is_idle() {
            return probe(&world).await;
        }
        world.schedule.sleep(1000).await;
    }
}

/// Sends a request that reserves all memory. Nothing fails on its way.
async fn probe(world: &World) {
    let (Some(program), Some(caller)) = (world.services.at(program::URL), world.callers.first()) else { return };
    let mut request = Sent::post(program::URL, b"{}".to_vec())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("authorization", &format!("Bearer {}", token(caller)));
    request.headers.retain(|(name, _)| name != "content-length");
    let request = request.header("content-length", &IN_FLIGHT.to_string());
    let (answer, head) = oneshot::channel();
    program.serve(request, answer);
    // Without an answer, the isolate has ended.
    let Ok(head) = head.await else { return };
    let is_refused = head.status == 503 || head.status == 413;
    world.ledger.check(!is_refused, Invariant::NothingLeft, || {
        format!("the memory of requests that have ended is still reserved: status {}", head.status)
    });
}
