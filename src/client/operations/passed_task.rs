//! Requests about a task of another server that the caller of this program follows itself.

use edge_json::Value;
use edge_json::write::ObjectWriter;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::cancel_task::{task_request, unknown};
use super::respondent::{ANSWERS, Respondent, TaskWait, read_questions};
use super::result::CallResult;
use crate::call::context::Context;
use crate::call::result::ToolResult;
use crate::client::connection::Peer;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::questions::handlers::undeclared;
use crate::client::questions::passed::{self, pass};
use crate::client::remote_task::RemoteTask;
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::message::Params;
use crate::client::wire::response::{of_task_error, parsed};
use crate::client::wire::task::{GET, RemoteTaskState, TaskStatus, UPDATE};
use crate::protocol::capabilities::QuestionKind;
use crate::protocol::error::ErrorCode;
use crate::protocol::task::TaskMembers;

/// A task with the state that its caller asked for.
pub(crate) struct DetailedTask {
    pub members: TaskMembers,
    pub detail: TaskDetail,
}

/// The member that the state of a task adds to its description.
pub(crate) enum TaskDetail {
    None,
    /// The questions for the caller, by their keys.
    Questions(Vec<(String, Json)>),
    Result(ToolResult),
    /// The code of the error, and a sentence about it.
    Error(i32, String),
}

impl Peer {
    /// Requests the state of a task once, for the caller of `cx`.
    pub(crate) async fn task_state(&self, remote: &RemoteTask, cx: &Context) -> Result<DetailedTask, ClientError> {
        let json = self.0.result(&self.about_task(GET, remote, Params::default(), cx)).await.map_err(unknown)?;
        let failed = self.0.error_of(GET);
        let task = parsed(&json).and_then(|document| {
            let RemoteTaskState { status, members } =
                RemoteTaskState::read(document.root(), remote.id()).map_err(Failure::Malformed)?;
            let detail = match status {
                TaskStatus::Working | TaskStatus::Cancelled => TaskDetail::None,
                TaskStatus::Asks(requests) => TaskDetail::Questions(questions(&self.0, requests, cx)?),
                TaskStatus::Completed(result) => {
                    // The blocks of a result are parts of its text.
                    let json = result.to_raw().unwrap_or_default();
                    let result = CallResult::read(parsed(&json)?.root()).map_err(Failure::Malformed)?;
                    TaskDetail::Result(result.into_tool_result())
                }
                TaskStatus::Failed(error) => {
                    let failure = of_task_error(error);
                    let code = match failure {
                        Failure::Rpc { code, .. } => i32::try_from(code).ok(),
                        _ => None,
                    };
                    TaskDetail::Error(code.unwrap_or(ErrorCode::Internal.number()), failed(failure.into()).to_string())
                }
            };
            Ok(DetailedTask { members, detail })
        });
        task.map_err(failed)
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
        self.0.result(&self.about_task(UPDATE, remote, params, cx)).await.map(drop)
    }

    fn about_task(&self, method: &'static str, remote: &RemoteTask, params: Params, cx: &Context) -> RemoteRequest {
        let respondent =
            Respondent { cx: cx.clone(), pass: Some(pass), is_kept: false, task_wait: TaskWait::default() };
        RemoteRequest {
            capabilities: Some(respondent.capabilities(&self.0)),
            ..task_request(remote, method, params, self.0.server.upstream.timeout)
        }
    }
}

/// Returns the questions of a task for the caller of `cx`, by the keys of the server.
fn questions(
    conversation: &Conversation,
    requests: Option<Value<'_>>,
    cx: &Context,
) -> Result<Vec<(String, Json)>, ClientError> {
    let pages = conversation.client.sign_in_pages();
    let mut questions = Vec::new();
    read_questions(conversation, requests, &|_| false, &mut |key, question| {
        if question.kind == QuestionKind::Sampling && !conversation.server.upstream.passes_sampling {
            return Err(undeclared());
        }
        questions.push((key, passed::request(&question, &pages, cx)?));
        Ok(())
    })?;
    Ok(questions)
}
