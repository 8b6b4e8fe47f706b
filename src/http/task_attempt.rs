//! Durable tasks of an endpoint: the messages and alarms of their objects.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits, write};
use futures::future::{Either, select};

use super::endpoint::Endpoint;
use super::in_flight::Reservation;
use crate::call::client_extensions::{CapabilitySource, ClientDetails};
use crate::call::context::Context;
use crate::call::of_request::OfRequest;
use crate::call::rounds::Rounds;
use crate::call::trace::Trace;
use crate::host::{Host, Request, TaskRows};
use crate::limits::{RESERVATION_SECONDS, TASK_MEMORY_BYTES, TASK_MESSAGE_CHARACTERS, TASK_OUTPUT_BYTES};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::error::RpcError;
use crate::protocol::message::Message;
use crate::protocol::revision::Revision;
use crate::rpc::{self, Call, Resolved};
use crate::tasks::{Attempt, Attempted, End, Object, StoredCall};

/// The size of the description of a task, which an answer to `tasks/get` has besides the result: its message, and members of bounded length.
const DESCRIPTION_BYTES: usize = 8 * TASK_MESSAGE_CHARACTERS;

impl Endpoint {
    /// Answers a message to the object `name` of [`TaskObjects`](crate::host::TaskObjects).
    ///
    /// # Errors
    /// The object cannot answer. The text is for the log.
    pub async fn task_message(
        &self,
        name: &str,
        rows: Rc<dyn TaskRows>,
        message: &str,
        host: &Rc<dyn Host>,
    ) -> Result<String, String> {
        self.object(name, rows, host).answer(message).await
    }

    /// Answers the alarm of the object `name`: runs the next attempt of its task, or deletes what has expired.
    ///
    /// # Errors
    /// The storage failed. The text is for the log. The alarm should ring again later.
    pub async fn task_alarm(&self, name: &str, rows: Rc<dyn TaskRows>, host: &Rc<dyn Host>) -> Result<(), String> {
        self.object(name, rows, host).ring(async |attempt| self.attempt(attempt, host).await).await
    }

    fn object(&self, name: &str, rows: Rc<dyn TaskRows>, host: &Rc<dyn Host>) -> Object {
        let (keys, objects) = ((*self.state_keys).clone(), (*self.task_objects).clone());
        Object::new(name, rows, keys, objects, self.version.clone(), host.clone())
    }

    /// Runs the handler of a task, like a request that calls its tool.
    async fn attempt(&self, Attempt { call, journal, earlier }: Attempt, host: &Rc<dyn Host>) -> Attempted {
        let StoredCall { params, principal, capabilities, is_modern, url, .. } = call;
        let answers = earlier.answers.iter().map(|answered| answered.answer.get().len());
        let bytes = answers.fold(params.get().len().saturating_add(TASK_MEMORY_BYTES), usize::saturating_add);
        let Ok(mut reservation) = Reservation::new(bytes, self.limits.in_flight, host.now_ms()) else {
            return Attempted::NoRoom;
        };
        let text = format!(r#"{{"jsonrpc":"2.0","id":"task","method":"tools/call","params":{}}}"#, params.get());
        drop(params);
        let document = match Document::parse(text.as_bytes(), JsonLimits::MOST) {
            Ok(document) => document,
            Err(error) => return Attempted::Prevented(format!("the stored call cannot be read: {error}")),
        };
        let Ok(Message::Request(request)) = Message::read(document.root()) else {
            return Attempted::Prevented("the stored call is not a request".to_owned());
        };
        let head = Rc::new(StoredHead { url: url.clone() });
        let meta = request.meta.map(|meta| meta.text().into());
        let client =
            ClientDetails::new(meta, if is_modern { CapabilitySource::InMeta } else { CapabilitySource::Nowhere });
        let info = self.request_info(head, principal, client);
        let server = match self.build(&info, None, host) {
            Ok(server) => server,
            Err(refused) => return Attempted::Prevented(refused.error.message.to_string()),
        };
        // The answer is stored in the form of the newest revision. Each request converts it to its own.
        let revision = Revision::V2026_07_28;
        let resolved = Resolved::new(&request, &server, revision);
        if let Err(refused) = self.authorize(std::slice::from_ref(&resolved), info.checked_caller(), &url) {
            return ended(Err(refused.error));
        }
        if resolved.tool().and_then(|tool| tool.durable_task()).is_some_and(|task| task.tolerates_changes()) {
            journal.tolerate_changes();
        }
        let [elicitation_form, elicitation_url, sampling, roots] = capabilities;
        let capabilities = ClientCapabilities { elicitation_form, elicitation_url, sampling, roots };
        let rounds = Rounds::new(capabilities, self.limits.state).with_journal(journal);
        rounds.resume(earlier);
        let of_request = OfRequest::new(info, request.id.clone(), revision, host.clone(), rounds);
        let trace = Trace::of(request.meta, self.telemetry.as_ref(), host);
        let cx = Context::new(OfRequest { trace, ..of_request }, Some(Rc::new(server.clone())));
        let rounds = cx.rounds().clone();
        let response_limit = self.limits.output.saturating_sub(DESCRIPTION_BYTES).min(TASK_OUTPUT_BYTES);
        let keys = self.state_keys.clone();
        let call = Call { server, cx, method: resolved.method, keys, response_limit };
        let prepared = rpc::prepare(call, &request, resolved.target);
        // A call that waits must not keep its text in memory.
        drop(request);
        drop(document);
        drop(text);
        let mut attempt = pin!(prepared.attempt());
        loop {
            // The reservation expires after one to two such periods.
            match select(attempt, host.sleep(Duration::from_secs(RESERVATION_SECONDS))).await {
                Either::Left((Some(response), _)) => return ended(response),
                Either::Left((None, _)) => return Attempted::Waits(rounds),
                Either::Right(((), running)) => attempt = running,
            }
            reservation.renew(host.now_ms());
        }
    }
}

/// The head of the request that created a task. Its headers are not stored.
struct StoredHead {
    url: String,
}

impl Request for StoredHead {
    fn method(&self) -> String {
        "POST".to_owned()
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn header(&self, _: &str) -> Option<String> {
        None
    }
}

/// Returns the end of a task from the response to its call.
fn ended(response: Result<Vec<u8>, RpcError>) -> Attempted {
    let end = match response {
        Ok(response) => {
            let document = Document::parse(&response, JsonLimits::MOST).ok();
            document.and_then(|document| document.root().get("result")?.to_raw()).map(End::Result)
        }
        Err(error) => write::to_raw_value(&error).ok().map(End::Error),
    };
    end.map_or_else(|| Attempted::Prevented("the response cannot be read".to_owned()), Attempted::Ended)
}
