//! The values of the token store, encrypted.

use std::rc::Rc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::sealed::Purpose;
use super::settings::{Settings, SignIn};
use super::token_store::TokenStoreError;
use crate::call::context::Context;
use crate::call::failure;
use crate::client::oauth::error::OAuthError;
use crate::host::Host;

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
        let value = sealed.as_ref().and_then(|sealed| self.settings.keys.open(purpose, key, sealed));
        if sealed.is_some() && value.is_none() {
            failure::log(&self.host, "sign-in", "a value of the token store cannot be decrypted: check MCP_TOKEN_KEY");
        }
        Ok(Entry { value, sealed })
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
        let sealed = self.settings.keys.seal(purpose, key, value, &*self.host)?;
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
