//! Models on Workers AI.

use std::fmt;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::failure::{ModelFailure, ModelRefusal};
use super::service::{FailedAttempt, ModelRequest, ModelService};
use crate::host::in_time;

/// The internal codes of Workers AI: <https://developers.cloudflare.com/workers-ai/platform/errors/>. `5006` is not on that page: the inputs do
/// not fit the schema of the model. Failures with another code may be temporary.
const CODES: [(&str, Code); 17] = [
    ("3036", Code::Refusal(ModelRefusal::Busy)),
    ("3040", Code::Refusal(ModelRefusal::Busy)),
    ("3007", Code::Slow),
    ("3008", Code::Slow),
    ("5007", Code::Refusal(ModelRefusal::Unavailable)),
    ("3042", Code::Refusal(ModelRefusal::Unavailable)),
    ("5016", Code::Refusal(ModelRefusal::Unavailable)),
    ("5018", Code::Refusal(ModelRefusal::Unavailable)),
    ("3023", Code::Refusal(ModelRefusal::Unavailable)),
    ("3041", Code::Refusal(ModelRefusal::Unavailable)),
    ("3003", Code::Refusal(ModelRefusal::TooLarge)),
    ("5004", Code::Refusal(ModelRefusal::TooLarge)),
    ("3006", Code::Refusal(ModelRefusal::TooLarge)),
    ("3039", Code::Refusal(ModelRefusal::Rejected)),
    ("5005", Code::Refusal(ModelRefusal::Rejected)),
    ("5006", Code::Refusal(ModelRefusal::Rejected)),
    ("5019", Code::Refusal(ModelRefusal::Rejected)),
];

/// The message of wrangler if the binding runs without a connection to Cloudflare.
const LOCAL: &str = "needs to be run remotely";

/// The meaning of an internal code.
#[derive(Clone, Copy)]
enum Code {
    /// The platform ended the request.
    Slow,
    Refusal(ModelRefusal),
}

/// A platform that runs models by their names.
pub(super) struct WorkersAi(pub(super) Rc<dyn Ai>);

impl fmt::Debug for WorkersAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkersAi")
    }
}

impl ModelService for WorkersAi {
    fn names_model(&self) -> bool {
        false
    }

    fn send(&self, request: ModelRequest<'_>) -> LocalBoxFuture<'static, Result<Vec<u8>, FailedAttempt>> {
        let ModelRequest { model, body, limits, host, .. } = request;
        let (answer, late) = (self.0.run(model, body), host.sleep(limits.time));
        async move {
            match in_time(answer.map(Ok), late).await {
                Ok(Ok(answer)) if answer.len() <= limits.bytes => Ok(answer),
                Ok(Ok(_)) => Err(ModelFailure::TooLarge.into()),
                Ok(Err(failure)) => Err(refusal(&failure).into()),
                Err(_) => Err(ModelFailure::Slow(Some(limits.time)).into()),
            }
        }
        .boxed_local()
    }
}

/// Returns the failure with the internal code of a message. The log gets no other part of the message, because it may quote the inputs.
fn refusal(AiFailure(message): &AiFailure) -> ModelFailure {
    let Some(code) = code(message) else {
        let problem = if message.contains(LOCAL) { "needs a remote binding" } else { "fails without a code" };
        return ModelFailure::Refused(ModelRefusal::Unreachable, problem.to_owned());
    };
    let detail = format!("answers with code {code}");
    match CODES.iter().find(|(known, _)| *known == code) {
        Some((_, Code::Slow)) => ModelFailure::Slow(None),
        Some((_, Code::Refusal(refusal))) => ModelFailure::Refused(*refusal, detail),
        None => ModelFailure::Refused(ModelRefusal::Unreachable, detail),
    }
}

/// Returns the internal code of a message: 4 digits at the beginning, or after the names of errors, as in `AiError: 5006: Type mismatch`.
fn code(message: &str) -> Option<&str> {
    let is_name = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let part = message.split(": ").find(|part| !is_name(part))?;
    let code = part.split(|c: char| !c.is_ascii_digit()).next()?;
    Some(code).filter(|code| code.len() == 4)
}

/// Runs models by their names, such as the binding of Workers AI.
pub trait Ai {
    /// Runs `model` with `inputs`, which is a JSON object. Returns the answer as JSON text.
    fn run(&self, model: &str, inputs: String) -> LocalBoxFuture<'static, Result<Vec<u8>, AiFailure>>;
}

/// A failure of the platform: the message as it came, such as `3040: No more capacity` or `AiError: 5006: Type mismatch`. The library reads
/// the internal code, and logs no other part of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiFailure(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    /// R51: the internal code decides about the reaction. The log has the code, and not the description.
    #[test]
    fn internal_codes_are_a_table() {
        const BUSY: &str = "is overloaded. Try again in a minute.";
        const SLOW: &str = "did not answer in time.";
        const UNAVAILABLE: &str = "This server cannot use its embedding model.";
        const REJECTED: &str = "rejected the request.";
        const UNREACHABLE: &str = "cannot be reached.";
        for (codes, sentence, is_temporary, is_logged) in [
            (&["3036", "3040"][..], BUSY, true, true),
            (&["3007", "3008"], SLOW, false, false),
            (&["5007", "3042", "5016", "5018", "3023", "3041"], UNAVAILABLE, false, true),
            (&["3003", "5004", "3006", "3039", "5005", "5006", "5019"], REJECTED, false, true),
            (&["9999"], UNREACHABLE, true, true),
        ] {
            for (code, names) in
                codes.iter().zip(["", "AiError: ", "InferenceUpstreamError: AiError: "].into_iter().cycle())
            {
                let failure = refusal(&AiFailure(format!("{names}{code}: about \"my letters: 3040\"")));
                assert_eq!(failure.is_temporary(), is_temporary, "{code}");
                let error = failure.error("embedding model", 1);
                assert!(error.message().contains(sentence), "{code}: {}", error.message());
                let cause = error.0.cause.expect("a cause");
                assert_eq!((cause.contains(code), cause.contains("letters")), (is_logged, false), "{code}: {cause}");
            }
        }
    }

    /// R51: the log has no part of a message without a code, because it may quote the inputs.
    #[test]
    fn messages_without_a_code_are_not_logged() {
        const WITHOUT: &str = "fails without a code";
        for (message, logged) in [
            ("Binding AI needs to be run remotely", "needs a remote binding"),
            ("", WITHOUT),
            ("30400: my letters", WITHOUT),
            ("12:34\nmy letters", WITHOUT),
            ("Type mismatch of '/text': 'my letters' not in 'string'", WITHOUT),
            ("my letters: 5006: my letters", WITHOUT),
        ] {
            let error = refusal(&AiFailure(message.into())).error("model", 1);
            assert!(error.message().contains("cannot be reached"), "{message}");
            assert_eq!(error.0.cause.expect("a cause"), format!("the model's endpoint {logged}"));
        }
    }
}
