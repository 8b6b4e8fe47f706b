//! The values of the token store, encrypted.

use std::rc::Rc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::sealed::Purpose;
use super::settings::{Settings, SignIn};
use super::token_store::TokenStoreError;
use crate::call::context::Context;
use crate::client::oauth::error::OAuthError;
use crate::host::{Host, log};

/// The encrypted values of the store.
#[derive(Clone)]
pub(super) struct Values {
    pub settings: Rc<Settings>,
    pub host: Rc<dyn Host>,
}

/// An entry of the store.
pub(super) struct Entry<T> {
    /// The value, if there is one that can be decrypted.
    pub value: Option<T>,
    /// The encrypted text, if there is one.
    pub sealed: Option<String>,
    /// Whether an old key has encrypted the value.
    has_old_key: bool,
    /// The time at which the value was written, in milliseconds since 1970.
    written_ms: u64,
}

/// A value and the time at which it was written, as they are encrypted: one object.
#[derive(Deserialize, Serialize)]
struct Written<T> {
    #[serde(default)]
    written_ms: u64,
    #[serde(flatten)]
    value: T,
}

impl SignIn {
    /// Returns the values of the token store, for a call or a page.
    pub(super) fn values(&self, cx: &Context) -> Values {
        Values { settings: self.0.clone(), host: cx.host().clone() }
    }
}

impl Values {
    /// Returns the entry of `key`. A value that cannot be decrypted counts as none, and is logged.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) async fn load<T: DeserializeOwned>(&self, purpose: Purpose, key: &str) -> Result<Entry<T>, OAuthError> {
        let sealed = self.settings.store.get(key).await.map_err(store_failed)?;
        let opened = sealed.as_ref().and_then(|sealed| self.settings.keys.open_with(purpose, key, sealed));
        if sealed.is_some() && opened.is_none() {
            log::failure(&self.host, "sign-in", "a value of the token store cannot be decrypted: check MCP_TOKEN_KEY");
        }
        let Some((Written { written_ms, value }, has_old_key)) = opened else {
            return Ok(Entry { value: None, sealed, has_old_key: false, written_ms: 0 });
        };
        Ok(Entry { value: Some(value), sealed, has_old_key, written_ms })
    }

    /// Writes a value that is used again if an old key has encrypted it, or if half of the time `keep` is over. So each value that is used
    /// stays in the store, and needs only the newest key. A failure is logged, because the old text is still there.
    pub(super) async fn renew<T: Serialize>(&self, purpose: Purpose, key: &str, entry: &Entry<T>, keep: Duration) {
        let Entry { value: Some(value), sealed, has_old_key, written_ms } = entry else { return };
        let age = Duration::from_millis(self.host.now_ms().saturating_sub(*written_ms));
        if !has_old_key && age.saturating_mul(2) < keep {
            return;
        }
        // If another request has replaced the value meanwhile, its value counts.
        if let Err(error) = self.replace(purpose, key, sealed.as_deref(), value, keep).await {
            let problem = format!("a value of the token store was not written again: {}", error.cause());
            log::failure(&self.host, "sign-in", &problem);
        }
    }

    /// Replaces the value of `key`, if its encrypted text is still `current`. Returns the new encrypted text, or `None` if it was not
    /// replaced.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(super) async fn replace(
        &self,
        purpose: Purpose,
        key: &str,
        current: Option<&str>,
        value: &impl Serialize,
        keep: Duration,
    ) -> Result<Option<String>, OAuthError> {
        let written = Written { written_ms: self.host.now_ms(), value };
        let sealed = self.settings.keys.seal(purpose, key, &written, &*self.host)?;
        let is_replaced = self.settings.store.replace(key, current, &sealed, keep).await.map_err(store_failed)?;
        Ok(is_replaced.then_some(sealed))
    }

    /// Removes the value of `key`.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(super) async fn remove(&self, key: &str) -> Result<(), OAuthError> {
        self.settings.store.remove(key).await.map_err(store_failed)
    }
}

fn store_failed(error: TokenStoreError) -> OAuthError {
    OAuthError::StoreFailed { cause: format!("the token store failed: {error}") }
}
