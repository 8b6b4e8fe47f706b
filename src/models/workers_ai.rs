//! Models on Workers AI.

use std::fmt;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::ai::{Ai, AiFailure};
use super::failure::{Failure, Refusal};
use super::service::{Refused, Request, Service};
use crate::host::in_time;
use crate::text::line;

/// The internal codes of Workers AI: <https://developers.cloudflare.com/workers-ai/platform/errors/>. Failures with another code may be
/// temporary.
const CODES: [(&str, Code); 13] = [
    ("3036", Code::Refusal(Refusal::Busy)),
    ("3040", Code::Refusal(Refusal::Busy)),
    ("3007", Code::Slow),
    ("3008", Code::Slow),
    ("5007", Code::Refusal(Refusal::Unavailable)),
    ("3042", Code::Refusal(Refusal::Unavailable)),
    ("5016", Code::Refusal(Refusal::Unavailable)),
    ("5018", Code::Refusal(Refusal::Unavailable)),
    ("3023", Code::Refusal(Refusal::Unavailable)),
    ("3041", Code::Refusal(Refusal::Unavailable)),
    ("3003", Code::Refusal(Refusal::TooLarge)),
    ("5004", Code::Refusal(Refusal::TooLarge)),
    ("3006", Code::Refusal(Refusal::TooLarge)),
];

/// The meaning of an internal code.
#[derive(Clone, Copy)]
enum Code {
    /// The platform ended the request.
    Slow,
    Refusal(Refusal),
}

/// The characters of a message without a code that the log shows.
const MESSAGE: usize = 200;

/// A platform that runs models by their names.
pub(super) struct WorkersAi(pub(super) Rc<dyn Ai>);

impl fmt::Debug for WorkersAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkersAi")
    }
}

impl Service for WorkersAi {
    fn names_model(&self) -> bool {
        false
    }

    fn send(&self, request: Request<'_>) -> LocalBoxFuture<'static, Result<Vec<u8>, Refused>> {
        let Request { model, body, limits, host, .. } = request;
        let (answer, late) = (self.0.run(model, body), host.sleep(limits.time));
        async move {
            match in_time(answer.map(Ok), late).await {
                Ok(Ok(answer)) if answer.len() <= limits.bytes => Ok(answer),
                Ok(Ok(_)) => Err(Failure::TooLarge.into()),
                Ok(Err(failure)) => Err(refusal(&failure).into()),
                Err(_) => Err(Failure::Slow(Some(limits.time)).into()),
            }
        }
        .boxed_local()
    }
}

/// Returns the failure with the internal code of a message. The log gets the code without its description, which may quote the inputs.
fn refusal(AiFailure(message): &AiFailure) -> Failure {
    let code = message.split(|c: char| !c.is_ascii_digit()).next().filter(|code| code.len() == 4);
    let Some(code) = code else {
        let problem = line(message, MESSAGE);
        return Failure::Refused(Refusal::Unreachable, format!("fails: {problem}"));
    };
    let detail = format!("answers with code {code}");
    match CODES.iter().find(|(known, _)| *known == code) {
        Some((_, Code::Slow)) => Failure::Slow(None),
        Some((_, Code::Refusal(refusal))) => Failure::Refused(*refusal, detail),
        None => Failure::Refused(Refusal::Unreachable, detail),
    }
}

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
            (&["3003", "5004", "3006"], REJECTED, false, true),
            (&["3039", "5005", "5019", "9999"], UNREACHABLE, true, true),
        ] {
            for code in codes {
                let failure = refusal(&AiFailure(format!("{code}: about \"my letters\"")));
                assert_eq!(failure.is_temporary(), is_temporary, "{code}");
                let error = failure.error("embedding model", 1);
                assert!(error.message().contains(sentence), "{code}: {}", error.message());
                let cause = error.0.cause.expect("a cause");
                assert_eq!((cause.contains(code), cause.contains("letters")), (is_logged, false), "{code}: {cause}");
            }
        }
    }

    /// R51: a message without a code is in the log as it came, but in one line and shortened.
    #[test]
    fn messages_without_a_code_are_logged() {
        for (message, logged) in [
            ("Binding AI needs to be run remotely", "fails: Binding AI needs to be run remotely"),
            ("", "fails: "),
            ("30400: No", "fails: 30400: No"),
            ("12:34\nNo", "fails: 12:34 No"),
        ] {
            let error = refusal(&AiFailure(message.into())).error("model", 1);
            assert!(error.message().contains("cannot be reached"), "{message}");
            assert_eq!(error.0.cause.expect("a cause"), format!("the model's endpoint {logged}"));
        }
        let long = refusal(&AiFailure("x".repeat(10_000))).error("model", 1);
        assert!(long.0.cause.expect("a cause").len() < 300);
    }
}
