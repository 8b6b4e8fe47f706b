//! The functions of a program that answer the questions of a server.

use std::rc::Rc;

use edge_json::write::{self, ObjectWriter};
use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::question::ServerQuestion;
use crate::call::context::Context;
use crate::client::error::{ClientError, Failure};
use crate::protocol::capabilities::{ClientCapabilities, QuestionKind};
use crate::protocol::revision::Revision;

/// The answer to a question as JSON text, in the form of the protocol.
pub(in crate::client) type AnswerFuture = LocalBoxFuture<'static, Result<Box<RawValue>, ClientError>>;

/// A function that reads a question and returns its answer. It calls the function of the program when the future is polled.
type AnswerFunction = Rc<dyn Fn(&ServerQuestion<'_>, Context) -> Result<AnswerFuture, Failure>>;

/// The functions that answer the questions of a server. A kind of question without a function is not declared.
#[derive(Clone, Default)]
pub(in crate::client) struct Handlers {
    pub form: Option<AnswerFunction>,
    pub url: Option<AnswerFunction>,
    pub sampling: Option<AnswerFunction>,
    pub roots: Option<AnswerFunction>,
}

impl Handlers {
    /// Returns the capabilities that the functions provide.
    pub(in crate::client) fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            elicitation_form: self.form.is_some(),
            elicitation_url: self.url.is_some(),
            sampling: self.sampling.is_some(),
            roots: self.roots.is_some(),
        }
    }

    /// Reads a question, and returns the answer of the program's function for it, or `None` if there is no function.
    ///
    /// # Errors
    /// The question is not valid.
    pub(in crate::client) fn answer(
        &self,
        question: &ServerQuestion<'_>,
        cx: &Context,
    ) -> Result<Option<AnswerFuture>, ClientError> {
        let handler = match question.kind {
            QuestionKind::Form => &self.form,
            QuestionKind::Url => &self.url,
            QuestionKind::Sampling => &self.sampling,
            QuestionKind::Roots => &self.roots,
        };
        let answer = handler.as_ref().map(|answer| answer(question, cx.clone()));
        Ok(answer.transpose()?)
    }
}

/// Returns the failure for a kind of question that the client did not declare.
pub(in crate::client) fn undeclared() -> ClientError {
    ClientError::new(
        Failure::CapabilityRequired,
        Some("the server asks a kind of question that was not declared".into()),
    )
}

/// Writes capabilities and extensions as JSON, in the form of a revision.
pub(in crate::client) fn capabilities_json(
    capabilities: ClientCapabilities,
    extensions: &Map<String, Value>,
    revision: Revision,
) -> String {
    let ClientCapabilities { elicitation_form, elicitation_url, sampling, roots } = capabilities;
    let with = |object: ObjectWriter, name, is_declared| if is_declared { object.json(name, "{}") } else { object };
    let mut declared = ObjectWriter::new();
    if revision >= Revision::V2025_11_25 {
        let modes = with(with(ObjectWriter::new(), "form", elicitation_form), "url", elicitation_url);
        if !modes.is_empty() {
            declared = declared.json("elicitation", &modes.finish());
        }
    } else {
        // 2025-06-18 has only forms. Older revisions have no elicitation.
        declared = with(declared, "elicitation", revision >= Revision::V2025_06_18 && elicitation_form);
    }
    declared = with(with(declared, "sampling", sampling), "roots", roots);
    if !extensions.is_empty() {
        // Clients also send extensions to servers of the revisions that do not define them.
        declared = declared.json("extensions", &write::to_string(extensions).unwrap_or_default());
    }
    declared.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C32: the declared capabilities, in each revision.
    #[test]
    fn capabilities_are_declared_in_the_form_of_the_revision() {
        let all = ClientCapabilities { elicitation_form: true, elicitation_url: true, sampling: true, roots: true };
        let form = ClientCapabilities { elicitation_form: true, ..ClientCapabilities::default() };
        let url = ClientCapabilities { elicitation_url: true, ..ClientCapabilities::default() };
        for (capabilities, revision, expected) in [
            (all, Revision::V2026_07_28, r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#),
            (all, Revision::V2025_06_18, r#"{"elicitation":{},"sampling":{},"roots":{}}"#),
            (all, Revision::V2025_03_26, r#"{"sampling":{},"roots":{}}"#),
            (form, Revision::V2025_11_25, r#"{"elicitation":{"form":{}}}"#),
            (url, Revision::V2026_07_28, r#"{"elicitation":{"url":{}}}"#),
            (url, Revision::V2025_06_18, "{}"),
            (ClientCapabilities::default(), Revision::V2026_07_28, "{}"),
        ] {
            assert_eq!(capabilities_json(capabilities, &Map::new(), revision), expected, "{capabilities:?} {revision}");
        }
    }
}
