//! The functions of a program that answer the questions of a server.

use std::rc::Rc;

use futures::future::LocalBoxFuture;
use serde_json::Value;

use super::question::{Elicitation, SamplingRequest, UrlElicitation};
use crate::call::context::Context;
use crate::call::elicitation::Elicited;
use crate::call::error::HandlerError;
use crate::call::roots::Root;
use crate::call::sampling::Sampled;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::revision::Revision;

/// A function that answers a question.
type Answering<Q, A> = Rc<dyn Fn(Q, Context) -> LocalBoxFuture<'static, Result<A, HandlerError>>>;

/// The functions that answer the questions of a server. A kind of question without a function is not declared.
#[derive(Clone, Default)]
pub(super) struct Handlers {
    pub form: Option<Answering<Elicitation, Elicited<Value>>>,
    pub url: Option<Answering<UrlElicitation, Elicited<()>>>,
    pub sampling: Option<Answering<SamplingRequest, Sampled>>,
    pub roots: Option<Vec<Root>>,
}

impl Handlers {
    /// Returns the capabilities that the functions provide.
    pub(super) fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            elicitation_form: self.form.is_some(),
            elicitation_url: self.url.is_some(),
            sampling: self.sampling.is_some(),
            roots: self.roots.is_some(),
        }
    }
}

/// Writes capabilities as JSON, in the form of a revision.
pub(super) fn capabilities_json(capabilities: ClientCapabilities, revision: Revision) -> String {
    let ClientCapabilities { elicitation_form, elicitation_url, sampling, roots } = capabilities;
    let mut members = Vec::new();
    if revision >= Revision::V2025_11_25 {
        match (elicitation_form, elicitation_url) {
            (true, true) => members.push(r#""elicitation":{"form":{},"url":{}}"#),
            (true, false) => members.push(r#""elicitation":{"form":{}}"#),
            (false, true) => members.push(r#""elicitation":{"url":{}}"#),
            (false, false) => {}
        }
    } else if revision >= Revision::V2025_06_18 && elicitation_form {
        // This revision has only forms.
        members.push(r#""elicitation":{}"#);
    }
    if sampling {
        members.push(r#""sampling":{}"#);
    }
    if roots {
        members.push(r#""roots":{}"#);
    }
    format!("{{{}}}", members.join(","))
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
            assert_eq!(capabilities_json(capabilities, revision), expected, "{capabilities:?} {revision}");
        }
    }
}
