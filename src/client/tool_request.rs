//! The request of a call, with what the definition of the tool adds: headers that repeat arguments, permission to send the call again, and
//! the check of the result.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value};
use futures::FutureExt;

use super::connection::Link;
use super::definition::{Listed, Output, TOOLS, warn_of_output};
use super::error::{ClientError, Executed, Failure};
use super::param_headers;
use super::request::Outgoing;
use super::response::Reply;
use super::result::CallResult;
use super::rounds::Asked;
use crate::call::request_info::ForeignSteps;

impl Link {
    /// Calls a tool. Without a definition, the client uses a known list of the tools.
    ///
    /// A handler that asks its caller runs again from its beginning, so the call is a step: it is not sent again after it has finished. A
    /// call that may be repeated is sent again instead, unless its questions are passed on.
    pub(super) async fn call_tool(
        self: &Rc<Self>,
        mut outgoing: Outgoing,
        definition: Option<Listed>,
        mut asked: Asked,
    ) -> Result<CallResult, ClientError> {
        outgoing.deadline = Some(self.deadline(outgoing.timeout));
        let name = outgoing.target.clone().unwrap_or_default();
        let definition = match definition {
            Some(definition) => Some(definition),
            None => self.known_tool(&name).await,
        };
        outgoing.is_repeatable |= definition.as_ref().is_some_and(|tool| self.is_repeatable(tool));
        asked.is_kept = asked.pass.is_some() || !outgoing.is_repeatable;
        if let Some(tool) = &definition {
            self.describe(&mut outgoing, tool)?;
        }
        let call = self.answered(outgoing.clone(), &asked);
        let json = if asked.is_kept {
            let step = format!("{}_{name}", self.server().name);
            let call = async { Ok(Reply { asks: false, result: call.await? }) };
            self.step(&asked.cx, &step, &outgoing, call.boxed_local()).await?.result
        } else {
            call.await?
        };
        let malformed = |problem| self.malformed_result(&outgoing, problem);
        let document = Document::parse(json.get().as_bytes(), JsonLimits::MOST);
        let document = document.map_err(|_| malformed("has a result that is not JSON"))?;
        let result = CallResult::read(document.root()).map_err(malformed)?;
        // A list of this connection is newer than a definition that the program stored.
        match self.known_tool(&name).await.or(definition) {
            Some(tool) if !result.is_error() => {
                let structured = document.root().get("structuredContent");
                self.check_output(&outgoing, &tool, structured, asked.cx.request().foreign_steps()).map(|()| result)
            }
            _ => Ok(result),
        }
    }

    /// Sends a call.
    ///
    /// If the server requires headers that the client did not send, and has not executed the call, the client lists the tools and sends the
    /// call once more.
    pub(super) async fn exchange_call(&self, outgoing: &mut Outgoing) -> Result<Reply, ClientError> {
        let reply = self.exchange(outgoing).await;
        let is_rejected =
            |error: &ClientError| *error.failure() == Failure::HeaderMismatch && error.executed() == Executed::No;
        if !reply.as_ref().is_err_and(is_rejected) {
            return reply;
        }
        let name = outgoing.target.clone().unwrap_or_default();
        let list = self.new_list(TOOLS).boxed_local().await;
        let Some(tool) = list.iter().flat_map(|list| &list.items).find(|item| item.is_tool(&name)) else {
            return reply;
        };
        self.describe(outgoing, tool)?;
        self.exchange(outgoing).await
    }

    /// Adds the headers that the definition of a tool requires.
    fn describe(&self, outgoing: &mut Outgoing, tool: &Listed) -> Result<(), ClientError> {
        outgoing.header_params = param_headers::of_call(tool.header_params(), &outgoing.arguments)
            .map_err(|problem| self.failed(outgoing.method, Failure::Local(problem.into()).into()))?;
        Ok(())
    }

    /// Returns whether the annotations of a trusted server say that a second call has no further effect. Annotations that contradict one
    /// another do not count.
    fn is_repeatable(&self, tool: &Listed) -> bool {
        let is_read_only = tool.has_hint("readOnlyHint");
        let is_safe = is_read_only || tool.has_hint("idempotentHint");
        self.upstream().is_trusted && is_safe && !(is_read_only && tool.has_hint("destructiveHint"))
    }

    /// Checks the structured content of a result against the output schema of the tool.
    fn check_output(
        &self,
        outgoing: &Outgoing,
        tool: &Listed,
        structured: Option<Value<'_>>,
        steps: &ForeignSteps,
    ) -> Result<(), ClientError> {
        let schema = match tool.output(&steps.compilation) {
            Output::Any => return Ok(()),
            Output::Enforced(schema) => schema,
            Output::NotEnforced(reason) => {
                warn_of_output(&self.server().name, reason, "enforced", self.host());
                return Ok(());
            }
        };
        let executed = |problem| self.malformed_result(outgoing, problem).executed_as(Executed::Yes);
        let structured =
            structured.ok_or_else(|| executed("has no structured content, but the tool has an output schema"))?;
        let mistakes = schema.validate_for_log(structured, &steps.checks);
        if mistakes.is_empty() {
            return Ok(());
        }
        let problem = "has structured content that does not match the output schema of the tool";
        Err(executed(problem).because(mistakes.join("; ")))
    }

    fn malformed_result(&self, outgoing: &Outgoing, problem: &'static str) -> ClientError {
        self.failed(outgoing.method, Failure::Malformed(problem).into())
    }
}
