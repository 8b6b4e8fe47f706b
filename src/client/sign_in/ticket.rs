//! The link to a sign-in, which a call gives to its caller.
//!
//! The ticket in the link says which server requires the sign-in, and what for. It is encrypted, and only the person for whom it was made can
//! use it: otherwise somebody could send the link to another person, and would then have the access of that person.

use serde::{Deserialize, Serialize};

use super::sealed::SealPurpose;
use super::values::Values;
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::token_response::after;
use crate::client::wire::challenge::BearerChallenge;
use crate::limits::SIGN_IN_SECONDS;

/// The name of the parameter of a link that has the ticket.
pub(super) const TICKET: &str = "ticket";

/// The content of a ticket.
#[derive(Deserialize, Serialize)]
pub(super) struct Ticket {
    /// The name of the server.
    pub server: String,
    /// The person for whom the ticket was made: see [`person_key`](super::account::person_key).
    pub person: String,
    /// The URL of the protected resource metadata, from the challenge of the server.
    pub resource_metadata: Option<String>,
    /// The scopes to request.
    pub scopes: Vec<String>,
    /// The time at which the ticket expires, in milliseconds since 1970.
    pub expires: u64,
}

impl Ticket {
    /// Creates a ticket that is valid from now on.
    pub(super) fn new(
        server: &str,
        person: &str,
        challenge: Option<&BearerChallenge>,
        scopes: Vec<String>,
        now_ms: u64,
    ) -> Self {
        Self {
            server: server.to_owned(),
            person: person.to_owned(),
            resource_metadata: challenge.and_then(|challenge| challenge.resource_metadata.clone()),
            scopes,
            expires: after(now_ms, SIGN_IN_SECONDS),
        }
    }
}

impl Values {
    /// Returns the link with a ticket.
    ///
    /// # Errors
    /// The ticket cannot be encrypted, or it is too long for a URL.
    pub(super) fn link(&self, ticket: &Ticket) -> Result<String, OAuthError> {
        const LONGEST: usize = 4 << 10;
        let sealed = self.settings.keys.seal(SealPurpose::Ticket, "", ticket, &*self.host)?;
        if sealed.len() > LONGEST {
            return Err(OAuthError::Malformed {
                document: "its challenge",
                cause: "the scopes are too long".to_owned(),
            });
        }
        Ok(format!("{}?{TICKET}={sealed}", self.settings.url.as_str()))
    }

    /// Reads the ticket of a link, also if it has expired. Returns `None` if this program did not make it.
    pub(super) fn read_ticket(&self, sealed: &str) -> Option<Ticket> {
        self.settings.keys.open(SealPurpose::Ticket, "", sealed)
    }
}
