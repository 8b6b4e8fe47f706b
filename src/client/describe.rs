//! The request for the description of a server: `server/discover` or `initialize`.

use std::time::Duration;

use super::about::About;
use super::connection::{Link, Peer};
use super::error::{ClientError, Failure};
use super::message::Params;
use super::negotiation::Known;
use super::request::Outgoing;
use crate::limits::UPSTREAM_NEGOTIATION_SECONDS;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;

impl Peer {
    /// Returns the name, version, capabilities and instructions of the server. The connection asks the server once.
    ///
    /// # Errors
    /// The server cannot be asked, or its answer is not valid.
    pub async fn about(&self) -> Result<About, ClientError> {
        self.0.about().await
    }
}

impl Link {
    async fn about(&self) -> Result<About, ClientError> {
        {
            let _negotiation = self.negotiation.lock().await;
            let mut known = self.known();
            if matches!(known, Known::Nothing | Known::Unsettled) {
                known = self.discover().await?;
            }
            if known.era() == Era::Legacy && self.about.borrow().is_none() {
                self.initialize(known).await?;
            }
        }
        if let Some(about) = &*self.about.borrow() {
            return Ok(about.clone());
        }
        let time = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);
        let result = self.request(&Outgoing::new(Method::Discover, Params::default(), time)).await?;
        let Known::Modern(revision) = self.known() else {
            let failure = Failure::Malformed("contradicts the earlier answers of the server");
            return Err(ClientError::new(&self.server().name, Method::Discover.name(), failure));
        };
        let about = About::of(revision, result).map_err(|failed| self.failed(Method::Discover, failed))?;
        self.about.replace(Some(about.clone()));
        Ok(about)
    }
}
