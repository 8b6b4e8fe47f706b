//! A token store in Durable Objects: one object for each key. Unlike D1, it has no single database that all requests share.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use edge_mcp::client::{TokenStore, TokenStoreError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use worker::{DurableObject, Env, Method, ObjectNamespace, Request, RequestInit, Response, State, durable_object};

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, TokenStoreError>> + 'a>>;

const VALUE: &str = "value";

#[derive(Deserialize, Serialize)]
struct Replacement {
    current: Option<String>,
    new: String,
    keep: Duration,
}

/// The object of a key. GET returns its value, POST replaces it, and DELETE removes it.
#[durable_object(alarm)]
pub struct StoredValue {
    state: State,
}

impl DurableObject for StoredValue {
    fn new(state: State, _: Env) -> Self {
        Self { state }
    }

    async fn fetch(&self, mut request: Request) -> worker::Result<Response> {
        let storage = self.state.storage();
        match request.method() {
            Method::Get => Response::from_json(&storage.get::<String>(VALUE).await?),
            Method::Post => {
                let Replacement { current, new, keep } = request.json().await?;
                // The object receives no other request while it waits for its storage.
                let is_current = storage.get::<String>(VALUE).await? == current;
                if is_current {
                    storage.put(VALUE, new).await?;
                    storage.set_alarm(keep).await?;
                }
                Response::from_json(&is_current)
            }
            _ => Response::from_json(&storage.delete_all().await?),
        }
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.state.storage().delete_all().await?;
        Response::empty()
    }
}

/// A store of tokens in Durable Objects of the class [`StoredValue`].
pub struct DurableTokens(pub ObjectNamespace);

impl DurableTokens {
    async fn send<T: DeserializeOwned>(
        &self,
        key: &str,
        method: Method,
        body: Option<&Replacement>,
    ) -> worker::Result<T> {
        let mut init = RequestInit::new();
        init.with_method(method).with_body(body.map(serde_json::to_string).transpose()?.map(Into::into));
        // The host of the URL is not resolved.
        let request = Request::new_with_init("https://tokens.internal/", &init)?;
        self.0.get_by_name(key)?.fetch_with_request(request).await?.json().await
    }

    fn answer<'a, T: DeserializeOwned + 'a>(
        &'a self,
        key: &'a str,
        method: Method,
        body: Option<Replacement>,
    ) -> Answer<'a, T> {
        let answer =
            async move { self.send(key, method, body.as_ref()).await.map_err(|e| TokenStoreError::new(e.to_string())) };
        Box::pin(answer)
    }
}

impl TokenStore for DurableTokens {
    fn get<'a>(&'a self, key: &'a str) -> Answer<'a, Option<String>> {
        self.answer(key, Method::Get, None)
    }

    fn replace<'a>(&'a self, key: &'a str, current: Option<&'a str>, new: &'a str, keep: Duration) -> Answer<'a, bool> {
        let body = Replacement { current: current.map(str::to_owned), new: new.to_owned(), keep };
        self.answer(key, Method::Post, Some(body))
    }

    fn remove<'a>(&'a self, key: &'a str) -> Answer<'a, ()> {
        self.answer(key, Method::Delete, None)
    }
}
