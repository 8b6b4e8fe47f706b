//! The question to the caller of this program to open the link of a sign-in. The request continues when the person has signed in.
//!
//! Source: 2026-07-28, client/elicitation, "URL Mode Elicitation".

use std::time::Duration;

use futures::future::LocalBoxFuture;

use crate::call::context::Context;
use crate::call::elicitation::FormAnswer;
use crate::call::error::HandlerError;
use crate::client::error::{Failed, Failure};
use crate::limits::{SIGN_IN_QUESTIONS, SIGN_IN_WAIT_SECONDS};

/// The time between two looks at the token store.
const PAUSE: Duration = Duration::from_secs(1);

/// Returns whether the person has signed in since the server rejected the last token.
pub(super) type IsRenewed<'a> = dyn Fn() -> LocalBoxFuture<'a, Result<bool, Failed>> + 'a;

/// Asks the caller of `cx` to open `link`. Returns whether the person has signed in to `server`.
pub(super) async fn ask(server: &str, link: &str, cx: &Context, is_renewed: &IsRenewed<'_>) -> Result<bool, Failed> {
    // The link is different each time, and a question must be the same in each round.
    let link: String = cx.step("sign in", &(), async || Ok(link.to_owned())).await.map_err(failed)?;
    let message = format!("The server `{server}` requires you to sign in. Open the page, sign in, and come back.");
    for attempt in 1..=SIGN_IN_QUESTIONS {
        let key = format!("{server}.sign-in.{attempt}");
        match cx.elicit_url(key, message.clone(), link.clone()).await {
            Ok(FormAnswer::Accepted(())) => {}
            Ok(FormAnswer::Declined | FormAnswer::Cancelled) => {
                return Err(Failure::not_called("you did not agree to sign in.").into());
            }
            Err(unasked) if unasked.is_unasked() => return Ok(false),
            Err(malformed) => {
                return Err(Failed::new(Failure::not_called("your answer is not valid."), Some(malformed.to_string())));
            }
        }
        if is_renewed().await? {
            return Ok(true);
        }
        // A later round does not wait again.
        let waited = cx.step(format!("sign in {attempt}"), &(), async || {
            for _ in 0..SIGN_IN_WAIT_SECONDS {
                cx.host().sleep(PAUSE).await;
                // The failure of a store is an error after the step.
                if is_renewed().await.unwrap_or(true) {
                    break;
                }
            }
            Ok(())
        });
        waited.await.map_err(failed)?;
        if is_renewed().await? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn failed(error: HandlerError) -> Failed {
    Failed::new(Failure::not_called("the sign-in failed. Try again later."), Some(error.message().to_owned()))
}
