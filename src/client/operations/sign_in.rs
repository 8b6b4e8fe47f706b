//! A request whose server requires the caller of this program to sign in: the caller is asked to open a link, and the request continues
//! when the person has signed in.
//!
//! Source: 2026-07-28, client/elicitation, "URL Mode Elicitation".

use std::time::Duration;

use crate::call::context::Context;
use crate::call::elicitation::Elicited;
use crate::client::error::{ClientError, Failed, Failure};
use crate::client::session::channel::Channel;
use crate::limits::{SIGN_IN_QUESTIONS, SIGN_IN_WAIT_SECONDS};
use crate::protocol::method::Method;

/// The time between two looks at the token store.
const PAUSE: Duration = Duration::from_secs(1);

/// Asks the caller to sign in, if the request failed because of that. Returns when there are new tokens.
///
/// # Errors
/// The error of the request, if the caller cannot be asked or does not sign in.
pub(super) async fn signed_in(
    channel: &Channel,
    method: Method,
    cx: &Context,
    may_ask: bool,
    error: ClientError,
) -> Result<(), ClientError> {
    let (Failure::SignInRequired { url }, true) = (error.failure(), may_ask) else { return Err(error) };
    let failed = |problem: &str| channel.failed(method, Failed::from(Failure::Local(problem.to_owned())));
    let server = &channel.server().name;
    // The link is different each time, and a question must be the same in each round.
    let link = cx.step("sign in", &(), async || Ok(url.clone())).await;
    let link: String =
        link.map_err(|error| failed("was not called, because the sign-in cannot begin.").because(error.message()))?;
    let message = format!("The server `{server}` requires you to sign in. Open the page, sign in, and come back.");
    for attempt in 1..=SIGN_IN_QUESTIONS {
        let key = format!("{server}.sign-in.{attempt}");
        match cx.elicit_url(key, message.clone(), link.clone()).await {
            Ok(Elicited::Accepted(())) => {}
            Ok(Elicited::Declined | Elicited::Cancelled) => {
                return Err(failed("was not called, because you did not agree to sign in."));
            }
            Err(unasked) if unasked.is_unasked() => return Err(error),
            Err(malformed) => {
                return Err(failed("was not called, because your answer is not valid.").because(malformed));
            }
        }
        let renewed = async || channel.renewed().await.map_err(|failed| channel.failed(method, failed));
        if renewed().await? {
            return Ok(());
        }
        // A later round does not wait again.
        let waited = cx.step(format!("sign in {attempt}"), &(), async || {
            for _ in 0..SIGN_IN_WAIT_SECONDS {
                channel.host().sleep(PAUSE).await;
                if renewed().await? {
                    break;
                }
            }
            Ok(())
        });
        waited.await.map_err(|error| failed("was not called, because the sign-in failed.").because(error.message()))?;
        if renewed().await? {
            return Ok(());
        }
    }
    Err(error)
}
