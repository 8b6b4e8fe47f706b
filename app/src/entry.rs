//! The entry point of the Worker. It reads the environment and builds the endpoint.

use std::rc::Rc;

use edge_mcp::worker::D1Passages;
use edge_mcp::{ConfigError, Endpoint, ProtectedResource};
use worker::Env;

use crate::d1::D1Store;
use crate::librarian::Librarian;
use crate::search::SEARCH_PASSAGES;
use crate::server::server;
use crate::store::Documents;

edge_mcp::worker::entry!(endpoint);

fn endpoint(env: &Env) -> Result<Endpoint, ConfigError> {
    let unbound = |_| ConfigError::new("DB", "is not bound: add this binding to [[d1_databases]] in wrangler.toml");
    let passages = Rc::new(D1Passages::new(env.d1("DB").map_err(unbound)?));
    let documents = Documents::new(Rc::new(D1Store::new(passages.clone())), passages);
    let resource = ProtectedResource::local().name("Knowledge base");
    Ok(Endpoint::new(server)
        .state(documents)
        .state(Librarian::from_environment(env)?)
        .resource(resource)
        .page_search(SEARCH_PASSAGES)
        .configured(env))
}
