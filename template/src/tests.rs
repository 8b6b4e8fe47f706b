//! Native tests of the whole endpoint. SQLite in memory runs the migrations and the SQL of the server. `npm test` runs the tests.

use edge_mcp::check::SizeLimits;
use edge_mcp::testing::{self, Client, TestDatabase};
use edge_mcp::{Endpoint, StaticTokens};
use serde_json::json;

use crate::server;

fn endpoint() -> Endpoint {
    let tokens = r#"[{ "token": "of-ada", "subject": "ada", "scopes": [] }]"#;
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("a list");
    let test = TestDatabase::migrated("migrations").expect("the migrations run");
    testing::endpoint(server).state(test.database()).auth(tokens)
}

/// `npm run check` prints what directories of MCP servers and clients would reject, and how many tokens the tools take.
#[test]
fn check_before_publishing() {
    let check = endpoint().check(SizeLimits::default()).expect("a server");
    println!("{check}");
    assert!(check.problems.is_empty(), "solve the problems above");
}

#[test]
fn a_desk_can_be_booked_once_per_day() {
    testing::run(async {
        let endpoint = endpoint();
        let ada = Client::new(&endpoint).token("of-ada");
        let arguments = json!({ "date": "2026-12-24", "desk": 7 });
        let booking = json!({ "date": "2026-12-24", "desk": 7, "person": "ada" });

        assert_eq!(*ada.call("book-desk", arguments.clone()).await.structured(), booking);
        let again = ada.call("book-desk", arguments).await;
        assert!(again.is_error() && again.text().starts_with("Desk 7 is taken on 2026-12-24."), "{}", again.text());

        let listed = ada.call("list-bookings", json!({ "date": "2026-12-24" })).await;
        assert_eq!(*listed.structured(), json!({ "bookings": [booking], "free": 19 }));
        let other_day = ada.call("list-bookings", json!({ "date": "2026-12-25" })).await;
        assert_eq!(*other_day.structured(), json!({ "bookings": [], "free": 20 }));
    });
}

#[test]
fn arguments_that_violate_the_schema_are_rejected() {
    testing::run(async {
        let endpoint = endpoint();
        let ada = Client::new(&endpoint).token("of-ada");
        let too_high = ada.call("book-desk", json!({ "date": "2026-12-24", "desk": 21 })).await;
        assert!(too_high.is_error() && too_high.text().contains("`desk` must be at most 20"), "{}", too_high.text());
        let not_a_date = ada.call("book-desk", json!({ "date": "tomorrow", "desk": 7 })).await;
        assert!(not_a_date.is_error() && not_a_date.text().contains("`date`"), "{}", not_a_date.text());
    });
}

#[test]
fn a_caller_without_a_token_is_rejected() {
    testing::run(async {
        let answer = testing::call(&endpoint(), "list-bookings", json!({ "date": "2026-12-24" })).await;
        assert_eq!(answer.status(), 401);
    });
}

#[test]
fn list_bookings_has_a_page() {
    testing::run(async {
        let endpoint = endpoint();
        let ada = Client::new(&endpoint).token("of-ada");
        let tools = ada.list("tools").await;
        let app = &tools.result()["tools"][1]["_meta"]["ui"]["resourceUri"];
        let page = ada.read(app.as_str().expect("a URI")).await;
        assert!(page.text().starts_with("<!doctype html>"), "{}", page.text());
    });
}

#[test]
fn the_resource_and_the_prompt_contain_the_bookings() {
    testing::run(async {
        let endpoint = endpoint();
        let ada = Client::new(&endpoint).token("of-ada");
        ada.call("book-desk", json!({ "date": "2026-12-24", "desk": 7 })).await;
        let list = "# Desks on 2026-12-24\n\n- Desk 7: ada";

        assert_eq!(ada.read("desks://days/2026-12-24").await.text(), list);
        let arguments = json!({ "date": "2026-12-24", "colleague": "ada" });
        let prompt = ada.prompt("plan-day", arguments).await;
        assert!(prompt.text().starts_with(list) && prompt.text().contains("as near to ada as possible"));
    });
}
