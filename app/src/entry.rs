//! The entry point of the Worker. It reads the environment and builds the endpoint.

use edge_mcp::auth::ProtectedResource;
use edge_mcp::worker::{ai, database, vectorize};
use edge_mcp::{ConfigError, Endpoint};
use worker::Env;

use crate::librarian::Librarian;
use crate::search::SEARCH_PASSAGES;
use crate::search_settings::SearchSettings;
use crate::server::server;
use crate::store::Documents;

edge_mcp::worker::entry!(endpoint);
edge_mcp::worker::tasks!(endpoint);

fn endpoint(env: &Env) -> Result<Endpoint, ConfigError> {
    let settings = SearchSettings::from_environment(env, || ai(env, "AI"), || vectorize(env, "VECTORS"))?;
    let documents = Documents::new(database(env, "DB")?, &settings);
    let resource = ProtectedResource::local().name("Knowledge base");
    Ok(Endpoint::new(server)
        .state(documents)
        .state(settings)
        .state(Librarian::from_environment(env)?)
        .resource(resource)
        .page_search(SEARCH_PASSAGES)
        .configured(env))
}
