//! Where a request comes in.

use std::rc::Rc;

use edge_mcp::auth::{ConfigError, ProtectedResource};
use edge_mcp::http::Endpoint;
use worker::{Env, Request, Response, event};

use crate::d1::D1Store;
use crate::librarian::Librarian;
use crate::server::server;

#[event(fetch)]
async fn fetch(request: Request, env: Env, cx: worker::Context) -> worker::Result<Response> {
    let endpoint = endpoint(&env).unwrap_or_else(Endpoint::misconfigured);
    edge_mcp::worker::serve(endpoint, request, cx).await
}

fn endpoint(env: &Env) -> Result<Endpoint, ConfigError> {
    let unbound =
        |_| ConfigError::new("DB", "is not bound: [[d1_databases]] in wrangler.toml names a database of this name");
    let store = Rc::new(D1Store::new(env.d1("DB").map_err(unbound)?));
    let librarian = Librarian::from_environment(env)?;
    let resource = ProtectedResource::local().name("Knowledge base");
    Ok(Endpoint::new(move |_| server(&store, librarian.as_ref())).resource(resource).configured(env))
}
