//! Models at an HTTP endpoint.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};

use super::failure::{ModelFailure, ModelRefusal};
use super::read::json;
use super::service::{FailedAttempt, ModelRequest, ModelService};
use crate::config::SecureUrl;
use crate::host::{FetchError, Fetched};

/// The refusals with a status from the first to the second number. All other statuses reject the request.
const STATUSES: [(u16, u16, ModelRefusal); 6] = [
    (401, 401, ModelRefusal::Key),
    (403, 403, ModelRefusal::Key),
    (408, 408, ModelRefusal::Unreachable),
    (413, 413, ModelRefusal::TooLarge),
    (429, 429, ModelRefusal::Busy),
    (500, u16::MAX, ModelRefusal::Unreachable),
];

#[derive(Debug)]
pub(super) struct ModelEndpoint(pub(super) SecureUrl);

impl ModelService for ModelEndpoint {
    fn names_model(&self) -> bool {
        true
    }

    fn send(&self, request: ModelRequest<'_>) -> LocalBoxFuture<'static, Result<Vec<u8>, FailedAttempt>> {
        let ModelRequest { authorization, body, limits, host, .. } = request;
        let mut request = self.0.request(Method::POST, body);
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(authorization) = authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        let answer = host.fetch(request, limits);
        async move {
            match answer.await {
                Ok(answer) if answer.status == 200 => Ok(answer.body),
                Ok(answer) => Err(FailedAttempt {
                    retry_after: answer.retry_after.unwrap_or_default(),
                    failure: refusal(&answer),
                }),
                Err(FetchError::TooSlow) => Err(ModelFailure::Slow(Some(limits.time)).into()),
                Err(FetchError::TooLarge) => Err(ModelFailure::TooLarge.into()),
                Err(FetchError::Failed(cause)) => Err(unreachable(&cause)),
                Err(error) => Err(unreachable(&error.to_string())),
            }
        }
        .boxed_local()
    }
}

fn unreachable(cause: &str) -> FailedAttempt {
    ModelFailure::Refused(ModelRefusal::Unreachable, format!("cannot be reached: {cause}")).into()
}

fn refusal(answer: &Fetched) -> ModelFailure {
    let status = answer.status;
    let row = STATUSES.iter().find(|(first, last, _)| (*first..=*last).contains(&status));
    let refusal = row.map_or(ModelRefusal::Rejected, |(_, _, refusal)| *refusal);
    let code = code(&answer.body).map_or_else(String::new, |code| format!(", {code}"));
    ModelFailure::Refused(refusal, format!("answers with status {status}{code}"))
}

/// Returns the error code in the body of an endpoint's error, such as `model_not_found`, if it has the form of a code.
fn code(body: &[u8]) -> Option<String> {
    let refusal = json(body)?;
    let code = refusal.pointer("/error/code")?.as_str()?;
    let is_code = code.len() <= 40 && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_code.then(|| code.to_owned())
}
