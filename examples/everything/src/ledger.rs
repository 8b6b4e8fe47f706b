//! An extension of the protocol: the methods of a ledger.

use edge_mcp::extension::{Extension, ExtensionMethod};
use edge_mcp::{HandlerError, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GetEntry {
    entry_id: String,
}

#[derive(Serialize)]
struct Entry {
    euros: u32,
}

async fn get_entry(GetEntry { entry_id }: GetEntry) -> Result<Json<Entry>, HandlerError> {
    match entry_id.as_str() {
        "rent" => Ok(Json(Entry { euros: 900 })),
        _ => Err(HandlerError::not_found("There is no such entry. The ledger has the entry `rent`.")),
    }
}

async fn close_ledger() {}

/// Returns the extension. Only clients that declare it can close the ledger.
pub(crate) fn extension() -> Extension {
    Extension::new("com.example/ledger", json!({ "currencies": ["EUR"] }))
        .method(ExtensionMethod::new("ledger/get", get_entry).target("entryId"))
        .method(ExtensionMethod::new("ledger/close", close_ledger).requires_client())
}
