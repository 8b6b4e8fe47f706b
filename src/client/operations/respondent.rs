//! The questions of a server within a request, and their answers: from functions of the program, or from the caller of this program.

use std::time::Duration;

use edge_json::write::ObjectWriter;
use edge_json::{Kind, Value};
use serde_json::value::RawValue;

use crate::call::call_path::Callee;
use crate::call::context::Context;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::questions::handlers::{AnswerFuture, undeclared};
use crate::client::questions::passed::Pass;
use crate::client::questions::question::ServerQuestion;
use crate::limits::{UPSTREAM_QUESTION_BYTES, UPSTREAM_QUESTIONS};
use crate::parallel::try_parallel;
use crate::protocol::capabilities::ClientCapabilities;

/// The parameter with the answers.
pub(super) const ANSWERS: &str = "inputResponses";

/// The failure of a request in which the server asks again and again.
pub(super) const TOO_MANY_ROUNDS: Failure = Failure::LimitExceeded("the server asks questions in too many rounds");

/// The part of this program that answers the questions of a server within a request, and the wait for its task.
pub(super) struct Respondent {
    /// The context of the call. Questions and steps belong to it.
    pub cx: Context,
    /// Passes the questions for which the program has no function on to the caller of this program.
    pub pass: Option<Pass>,
    /// Whether the rounds are remembered while the caller of this program is asked.
    pub is_kept: bool,
    pub task_wait: TaskWait,
}

/// The wait for the task with which a server may answer a tool call.
#[derive(Clone, Copy, Default)]
pub(super) struct TaskWait {
    /// The longest time to wait. `None` means the default.
    pub time: Option<Duration>,
    /// Whether the task is cancelled after this time. Otherwise, the program gets it.
    pub cancels_late: bool,
    /// The program gets a task at once instead of its result, if the id as JSON text is not longer than this.
    pub longest_passed_id: Option<usize>,
}

/// A question of a server.
pub(super) struct QuestionAnswer {
    /// The key that the server gives it.
    pub key: String,
    /// Whether the caller of this program answers it.
    pub is_passed: bool,
    pub answer: AnswerFuture,
}

impl Respondent {
    /// Creates the respondent of a request whose questions only the program answers, in the context of the connection.
    pub(super) fn program(cx: &Context) -> Self {
        Self { cx: cx.clone(), pass: None, is_kept: false, task_wait: TaskWait::default() }
    }

    /// Creates the respondent of a request, which has a place of its own in the work for our caller: that of `name` with these arguments.
    /// `asks` has the context whose caller answers questions.
    pub(super) fn of_call(
        conversation: &Conversation,
        asks: Option<(Context, Pass)>,
        name: &str,
        arguments: &str,
    ) -> Self {
        let (cx, pass) = asks.map_or_else(|| (conversation.cx.clone(), None), |(cx, pass)| (cx, Some(pass)));
        let cx = cx.at_call(Callee { server: Some(&conversation.server.name), tool: name }, arguments);
        Self { cx, pass, is_kept: true, task_wait: TaskWait::default() }
    }

    /// Returns the capabilities to declare to a server, whose questions the program and perhaps the caller of this program answer.
    pub(super) fn capabilities(&self, conversation: &Conversation) -> ClientCapabilities {
        let upstream = &conversation.server.upstream;
        let own = upstream.handlers.capabilities();
        let caller = if self.pass.is_some() { self.cx.client_capabilities() } else { ClientCapabilities::default() };
        ClientCapabilities {
            elicitation_form: own.elicitation_form || caller.elicitation_form,
            elicitation_url: own.elicitation_url || caller.elicitation_url,
            sampling: own.sampling || (upstream.passes_sampling && caller.sampling),
            ..own
        }
    }

    /// Returns whether results are stored for later rounds of our caller's request.
    pub(super) fn remembers(&self) -> bool {
        self.is_kept && self.cx.has_rounds()
    }

    /// Asks the caller of this program to sign in, if `error` says that this is necessary. Returns whether there is another token now.
    ///
    /// # Errors
    /// The caller does not sign in.
    pub(super) async fn signs_in(&self, conversation: &Conversation, error: &ClientError) -> Result<bool, ClientError> {
        match error.failure() {
            Failure::SignInRequired { url } if self.pass.is_some() => conversation.sign_in(url, &self.cx).await,
            _ => Ok(false),
        }
    }

    /// Explains in the error why the caller of this program was not asked.
    pub(super) fn explained(&self, error: ClientError) -> ClientError {
        if self.pass.is_none() || *error.failure() != Failure::CapabilityRequired {
            return error;
        }
        let problem = "needs to ask a person, but the caller of this program cannot be asked. A client of revision 2026-07-28 that \
                       supports elicitation can be asked.";
        error.with_failure(Failure::Local(problem.into()))
    }

    /// Reads the `inputRequests` of a server, and prepares the answers. Questions whose key is `answered` are left out. `passed_key` returns the
    /// key of a passed question, from its number and its key.
    ///
    /// # Errors
    /// A question cannot be answered. In this case, no question is asked.
    pub(super) fn questions(
        &self,
        conversation: &Conversation,
        requests: Option<Value<'_>>,
        capabilities: ClientCapabilities,
        answered: &dyn Fn(&str) -> bool,
        passed_key: &dyn Fn(usize, &str) -> String,
    ) -> Result<Vec<QuestionAnswer>, ClientError> {
        let pages = conversation.client.sign_in_pages();
        let mut questions = Vec::new();
        read_questions(conversation, requests, answered, &mut |key, question| {
            let answer = conversation.server.upstream.handlers.answer(&question, &self.cx)?;
            let (is_passed, answer) = match (answer, self.pass) {
                (Some(answer), _) => (false, answer),
                (None, Some(pass)) if question.kind.is_declared(capabilities) => {
                    (true, pass(&question, &passed_key(questions.len(), &key), &pages, &self.cx)?)
                }
                _ => return Err(undeclared()),
            };
            questions.push(QuestionAnswer { key, is_passed, answer });
            Ok(())
        })?;
        Ok(questions)
    }
}

/// Reads the `inputRequests` of a server. Questions whose key is `answered` are left out. `add` gets each key and question.
pub(super) fn read_questions(
    conversation: &Conversation,
    requests: Option<Value<'_>>,
    answered: &dyn Fn(&str) -> bool,
    add: &mut dyn FnMut(String, ServerQuestion<'_>) -> Result<(), ClientError>,
) -> Result<(), ClientError> {
    if requests.is_some_and(|requests| requests.kind() != Kind::Object) {
        return Err(Failure::Malformed("has `inputRequests` that are not an object").into());
    }
    let requests = requests.into_iter().flat_map(Value::members).filter(|(key, _)| !answered(key));
    for (nth, (key, request)) in requests.enumerate() {
        if nth >= UPSTREAM_QUESTIONS {
            return Err(Failure::LimitExceeded("the server asks too many questions at once").into());
        }
        if key.len().saturating_add(request.text().len()) > UPSTREAM_QUESTION_BYTES {
            return Err(Failure::LimitExceeded("a question is too long").into());
        }
        let method = request.string("method").ok_or(Failure::Malformed("asks without a method"))?;
        let question = ServerQuestion::of(&conversation.server.name, &method, request.get("params"))?;
        add(key.into_owned(), question.ok_or(Failure::CapabilityRequired)?)?;
    }
    Ok(())
}

/// Waits for answers at the same time. Returns them as a JSON object.
pub(super) async fn answers(questions: Vec<(String, AnswerFuture)>) -> Result<Box<RawValue>, ClientError> {
    let (keys, answers): (Vec<_>, Vec<_>) = questions.into_iter().unzip();
    let answers = try_parallel(answers.into_iter()).await?;
    let answered = keys.iter().zip(answers);
    Ok(answered.fold(ObjectWriter::new(), |object, (key, answer)| object.json(key, answer.get())).finish_raw())
}
