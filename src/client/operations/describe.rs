//! The request for the description of a server.

use crate::client::connection::Peer;
use crate::client::error::ClientError;
use crate::client::session::about::About;

impl Peer {
    /// Returns the name, version, capabilities and instructions of the server. The connection asks the server once.
    ///
    /// # Errors
    /// The server cannot be asked, or its answer is not valid.
    pub async fn about(&self) -> Result<About, ClientError> {
        self.0.session.about().await
    }
}
