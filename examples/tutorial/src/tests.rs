//! Native tests of the whole endpoint. A database in memory runs the migrations and the SQL, and the network returns prepared responses.

use edge_mcp::check::SizeLimits;
use edge_mcp::testing::{self, Client, TestDatabase, TestHost, TestKv};
use edge_mcp::{Endpoint, StaticTokens};
use serde_json::json;

use crate::store::Store;
use crate::{App, server};

fn endpoint() -> Endpoint {
    let tokens = json!([
        { "token": "of-ada", "subject": "ada", "scopes": ["expenses:write"] },
        { "token": "of-bob", "subject": "bob", "scopes": [] },
    ]);
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", Some(&tokens.to_string())).expect("a list");
    let test = TestDatabase::migrated("migrations").expect("the migrations run");
    let app = App {
        store: Store { db: test.database(), kv: TestKv::new(&TestHost::new()).store() },
        rates_url: "https://rates.example".to_owned(),
        rates_key: "key".to_owned(),
    };
    testing::endpoint(server).state(app).auth(tokens)
}

/// Directories and clients accept the server.
#[test]
fn it_can_be_published() {
    let check = endpoint().check(SizeLimits::default()).expect("a server");
    assert!(check.problems.is_empty(), "{check}");
}

#[test]
fn a_fetched_rate_is_cached() {
    testing::run(async {
        let endpoint = endpoint();
        let host = TestHost::new().respond("GET", "https://rates.example/USD", 200, r#"{"euros": 0.8}"#);
        let ada = Client::new(&endpoint).token("of-ada").host(&host);
        for _ in 0..2 {
            let added = ada.call("add-expense", json!({ "text": "Taxi", "amount": 20, "currency": "USD" })).await;
            assert_eq!(added.structured(), &json!({ "text": "Taxi", "euros": 16.0 }));
        }
        assert_eq!(host.requests().len(), 1);
        assert_eq!(host.requests()[0].headers()["Authorization"], "Bearer key");
    });
}

#[test]
fn an_outage_of_the_rates_server_is_reported() {
    testing::run(async {
        let endpoint = endpoint();
        let host = TestHost::new().respond("GET", "https://rates.example/USD", 500, "");
        let ada = Client::new(&endpoint).token("of-ada").host(&host);
        let failed = ada.call("add-expense", json!({ "text": "Taxi", "amount": 20, "currency": "USD" })).await;
        assert!(failed.is_error());
        assert_eq!(failed.text(), "The exchange rates are not available. Try again in a minute.");
    });
}

#[test]
fn only_callers_with_the_scope_can_add_expenses() {
    testing::run(async {
        let endpoint = endpoint();
        let bob = Client::new(&endpoint).token("of-bob");
        assert_eq!(bob.list("tools").await.names(), ["list-expenses"]);
        let forbidden = bob.call("add-expense", json!({ "text": "Taxi", "amount": 20, "currency": "EUR" })).await;
        assert_eq!(forbidden.status(), 403);
    });
}

#[test]
fn expenses_are_deleted_after_confirmation() {
    testing::run(async {
        let endpoint = endpoint();
        let ada = Client::new(&endpoint).token("of-ada");
        ada.call("add-expense", json!({ "text": "Taxi", "amount": 20, "currency": "EUR" })).await;
        let declined = ada.clone().decline("clear").call("clear-expenses", json!({})).await;
        assert_eq!(declined.text(), "Nothing was deleted.");
        let cleared = ada.clone().answer("clear", json!({})).call("clear-expenses", json!({})).await;
        assert_eq!(cleared.text(), "All expenses are deleted.");
        assert_eq!(cleared.questions()["clear"]["params"]["message"], "Delete all 1 expenses?");
        assert_eq!(ada.call("list-expenses", json!({})).await.structured(), &json!({ "expenses": [] }));
    });
}
