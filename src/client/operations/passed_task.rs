//! Requests about a task of another server that the caller of this program follows itself.

use edge_json::write::ObjectWriter;
use edge_json::{Document, JsonLimits, Kind, Value};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::asked::{ANSWERS, Asked};
use super::cancel_task::{request, unknown};
use super::result::CallResult;
use crate::call::context::Context;
use crate::client::connection::Peer;
use crate::client::error::{ClientError, Failed, Failure};
use crate::client::questions::handlers::undeclared;
use crate::client::questions::passed::{self, pass};
use crate::client::questions::question::{QuestionKind, ServerQuestion};
use crate::client::remote_task::RemoteTask;
use crate::client::session::channel::Channel;
use crate::client::session::outgoing::Outgoing;
use crate::client::wire::message::Params;
use crate::client::wire::response::of_task_error;
use crate::client::wire::task::{CANCEL, GET, Status, TaskState, UPDATE};
use crate::limits::{UPSTREAM_QUESTION_BYTES, UPSTREAM_QUESTIONS};
use crate::protocol::error::ErrorCode;
use crate::protocol::task::TaskMembers;

/// The members that the state of a task adds to its description.
pub(crate) enum Added {
    Nothing,
    /// The questions for the caller, by the keys of the server.
    Questions(Vec<(String, Json)>),
    Result(CallResult),
    /// The code of the error, and a sentence about it.
    Error(i32, String),
}

impl Peer {
    /// Requests the state of a task once, for the caller of `cx`.
    pub(crate) async fn task_state(
        &self,
        remote: &RemoteTask,
        cx: &Context,
    ) -> Result<(TaskMembers, Added), ClientError> {
        let channel = &*self.0.channel;
        let failed = |failed| channel.failed(GET.into(), failed);
        let malformed = |problem| failed(Failure::Malformed(problem).into());
        let json = self.0.session.request(&mut self.about_task(GET, remote, Params::default(), cx)).await;
        let json = json.map_err(unknown)?;
        let document = Document::parse(json.get().as_bytes(), JsonLimits::MOST);
        let document = document.map_err(|_| malformed("has a result that is not JSON"))?;
        let TaskState { status, members } = TaskState::read(document.root(), remote.id()).map_err(malformed)?;
        let added = match status {
            Status::Working | Status::Cancelled => Added::Nothing,
            Status::Asks(requests) => Added::Questions(questions(channel, requests, cx).map_err(failed)?),
            Status::Completed(result) => {
                // The blocks of a result are parts of its text.
                let json = result.to_raw().unwrap_or_default();
                let document = Document::parse(json.get().as_bytes(), JsonLimits::MOST);
                let document = document.map_err(|_| malformed("has a result that is not JSON"))?;
                Added::Result(CallResult::read(document.root()).map_err(malformed)?)
            }
            Status::Failed(error) => {
                let failure = of_task_error(error);
                let code = match failure {
                    Failure::Rpc { code, .. } => i32::try_from(code).ok(),
                    _ => None,
                };
                let code = code.unwrap_or(ErrorCode::Internal.number());
                Added::Error(code, failed(failure.into()).to_string())
            }
        };
        Ok((members, added))
    }

    /// Sends answers of the caller of `cx` to a task.
    pub(crate) async fn answer_task(
        &self,
        remote: &RemoteTask,
        answers: &[(String, Box<RawValue>)],
        cx: &Context,
    ) -> Result<(), ClientError> {
        let answers = answers.iter().fold(ObjectWriter::new(), |object, (key, answer)| object.json(key, answer.get()));
        let params = Params::default().with(ANSWERS, answers.finish_raw());
        self.0.session.request(&mut self.about_task(UPDATE, remote, params, cx)).await.map(drop)
    }

    /// Asks the server to cancel a task.
    pub(crate) async fn cancel_task(&self, remote: &RemoteTask, cx: &Context) -> Result<(), ClientError> {
        let mut cancellation = self.about_task(CANCEL, remote, Params::default(), cx);
        self.0.session.request(&mut cancellation).await.map(drop).map_err(unknown)
    }

    fn about_task(&self, method: &'static str, remote: &RemoteTask, params: Params, cx: &Context) -> Outgoing {
        let upstream = self.0.channel.upstream();
        let mut outgoing = request(method, remote, params, upstream.timeout);
        let asked = Asked { cx: cx.clone(), pass: Some(pass), is_kept: false };
        outgoing.capabilities = Some(asked.capabilities(upstream));
        outgoing
    }
}

/// Returns the questions of a task for the caller of `cx`, by the keys of the server.
fn questions(channel: &Channel, requests: Option<Value<'_>>, cx: &Context) -> Result<Vec<(String, Json)>, Failed> {
    if requests.is_some_and(|requests| requests.kind() != Kind::Object) {
        return Err(Failure::Malformed("has `inputRequests` that are not an object").into());
    }
    let pages = channel.client().sign_in_pages();
    let mut questions = Vec::new();
    for (key, request) in requests.into_iter().flat_map(Value::members) {
        if questions.len() >= UPSTREAM_QUESTIONS {
            return Err(Failure::LimitExceeded("the server asks too many questions at once").into());
        }
        if key.len().saturating_add(request.text().len()) > UPSTREAM_QUESTION_BYTES {
            return Err(Failure::LimitExceeded("a question is too long").into());
        }
        let method = request.string("method").ok_or(Failure::Malformed("asks without a method"))?;
        let question = ServerQuestion::of(&channel.server().name, &method, request.get("params"))?;
        let question = question.ok_or(Failure::CapabilityRequired)?;
        if question.kind == QuestionKind::Sampling && !channel.upstream().passes_sampling {
            return Err(undeclared());
        }
        questions.push((key.into_owned(), passed::request(&question, &pages, cx)?));
    }
    Ok(questions)
}
