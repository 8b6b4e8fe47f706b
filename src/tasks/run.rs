//! The run of a handler in an attempt of its task.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits};
use futures::future::{Either, select};

use super::journal::TaskJournal;
use super::live::LiveTask;
use super::next::{Next, error_end};
use super::object::{Object, numbered};
use super::record::{ANSWER, CALL, End, Record, RecordStatus, StoredCall, StoredQuestion};
use crate::call::client_extensions::CapabilitySource;
use crate::call::rounds::{Answered, Earlier};
use crate::call::task_info::TaskInfo;
use crate::engine::begin::Engine;
use crate::engine::head::{BoundedRequest, HeaderError};
use crate::engine::memory::Reservation;
use crate::engine::message::{Attempt, Caller, Message};
use crate::engine::refusal::{Refusal, missing_scopes};
use crate::engine::running::Running;
use crate::host::Request as Head;
use crate::limits::{RESERVATION_SECONDS, TASK_MEMORY_BYTES, TASK_MESSAGE_CHARACTERS, TASK_OUTPUT_BYTES};
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::{Request, RequestId};
use crate::protocol::method::Method;
use crate::protocol::revision::Revision;

/// The size of the description of a task, which an answer to `tasks/get` has besides the result: its message, and members of bounded length.
const DESCRIPTION_BYTES: usize = 8 * TASK_MESSAGE_CHARACTERS;

impl Object {
    /// Reads what an attempt needs.
    pub(super) fn attempt(
        &self,
        record: &Record,
        live: Rc<LiveTask>,
        engine: &Engine,
    ) -> Result<(StoredCall, Attempt), String> {
        let call: StoredCall = self.rows.open(CALL)?.ok_or("the call of the task is missing")?;
        let info = TaskInfo { id: call.id.clone(), attempt: record.attempts, created_ms: record.created_ms };
        let place = (self.rows.clone(), live, record.generation.clone());
        let journal = Rc::new(TaskJournal::open(info, place, self.version.clone())?);
        let mut answers = Vec::new();
        for (nth, question) in self.questions()?.into_iter().enumerate().filter(|(_, question)| question.is_answered) {
            let StoredQuestion { handler_key: key, digest: question, .. } = question;
            let answer = self.rows.open(&numbered(ANSWER, nth))?.ok_or("the answer to a question is missing")?;
            answers.push(Answered { key, question, answer, is_used: false });
        }
        let earlier = Earlier { answers, steps: Vec::new(), id: call.call_id.clone() };
        let response_limit = engine.limits.output.saturating_sub(DESCRIPTION_BYTES).min(TASK_OUTPUT_BYTES);
        Ok((call, Attempt { journal, earlier, response_limit }))
    }

    /// Runs the handler of a task, like a request that calls its tool.
    pub(super) async fn run_handler(
        &self,
        call: StoredCall,
        attempt: Attempt,
        tool: &str,
        live: &LiveTask,
        engine: &Engine,
    ) -> Next {
        let host = &self.host;
        let answers = attempt.earlier.answers.iter().map(|answered| answered.answer.get().len());
        let bytes = answers.fold(call.params.get().len().saturating_add(TASK_MEMORY_BYTES), usize::saturating_add);
        let Ok(mut reservation) = Reservation::new(bytes, engine.limits.in_flight, host.now_ms()) else {
            return Next::Later(host.now_ms().saturating_add(1000));
        };
        let running = match self.begin_handler(call, attempt, engine) {
            Ok(running) => running,
            Err(next) => return next,
        };
        let rounds = running.cx().rounds().clone();
        let mut handler = pin!(running.finish_attempt());
        let result = loop {
            // The reservation expires after one to two such periods.
            match select(handler, host.sleep(Duration::from_secs(RESERVATION_SECONDS))).await {
                Either::Left((result, _)) => break result,
                Either::Right(((), running)) => handler = running,
            }
            reservation.renew(host.now_ms());
        };
        match result {
            Some(Ok(result)) => Next::End(RecordStatus::Completed, Some(End::Result(result))),
            Some(Err(error)) => failed(&error),
            None => self.waiting(tool, &rounds, live).unwrap_or_else(Next::Failure),
        }
    }

    /// Begins the call of a task. The call keeps nothing of its parameters.
    fn begin_handler(&self, call: StoredCall, attempt: Attempt, engine: &Engine) -> Result<Running, Next> {
        let StoredCall { params, principal, capabilities, is_modern, url, .. } = call;
        let document = Document::parse(params.get().as_bytes(), JsonLimits::MOST);
        let document = document.map_err(|error| Next::Prevented(format!("the stored call cannot be read: {error}")))?;
        let params = document.root();
        let request = Request {
            id: RequestId::of_task(),
            method: Method::CallTool.name().into(),
            known_method: Some(Method::CallTool),
            params: Some(params),
            meta: params.get("_meta"),
        };
        let message = Message {
            request,
            // The answer is stored in the form of the newest revision. Each request converts it to its own.
            revision: Revision::V2026_07_28,
            capabilities,
            declared: if is_modern { CapabilitySource::InMeta } else { CapabilitySource::Nowhere },
        };
        let host = self.host.clone();
        let head = Rc::new(BoundedRequest::new(Rc::new(StoredHead { url }), engine.limits.header, host.clone()));
        let trace = engine.trace(&message.request, &host);
        let caller = Caller { head, principal, host, accepts_stream: false, attempt: Some(attempt) };
        engine.begin(&message, caller, trace).map_err(|refusal| match refusal {
            Refusal::Scopes(needed) => {
                failed(&RpcError::new(ErrorCode::InvalidRequest, missing_scopes(&needed.join(" "))))
            }
            Refusal::Unavailable(error) | Refusal::Meta(error) => Next::Prevented(error.message.to_string()),
            Refusal::Header(HeaderError::TooLong(problem) | HeaderError::Mismatch(problem)) => Next::Prevented(problem),
        })
    }
}

/// The head of the request that created a task. Its headers are not stored.
struct StoredHead {
    url: String,
}

impl Head for StoredHead {
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

/// Returns the end of a task whose call failed with an error of the protocol.
fn failed(error: &RpcError) -> Next {
    error_end(error).map_or_else(Next::Prevented, |end| Next::End(RecordStatus::Failed, Some(end)))
}
