//! Native tests: the whole endpoint, with bookings in memory. `npm test` runs them.

use std::cell::RefCell;
use std::rc::Rc;

use async_trait::async_trait;
use edge_mcp::testing::TestHost;
use edge_mcp::{Endpoint, StaticTokens};
use serde_json::{Value, json};

use crate::bookings::{Booking, Bookings};
use crate::{App, server};

#[derive(Default)]
struct InMemory(RefCell<Vec<Booking>>);

#[async_trait(?Send)]
impl Bookings for InMemory {
    async fn of_day(&self, date: &str) -> worker::Result<Vec<Booking>> {
        let mut bookings = self.0.borrow().clone();
        bookings.retain(|booking| booking.date == date);
        bookings.sort_by_key(|booking| booking.desk);
        Ok(bookings)
    }

    async fn add(&self, booking: &Booking) -> worker::Result<bool> {
        let of_day = self.of_day(&booking.date).await?;
        let is_free = of_day.iter().all(|other| other.desk != booking.desk);
        if is_free {
            self.0.borrow_mut().push(booking.clone());
        }
        Ok(is_free)
    }
}

fn endpoint() -> Endpoint {
    let tokens = r#"[{ "token": "of-ada", "subject": "ada", "scopes": [] }]"#;
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("a list");
    let app = App { bookings: Rc::new(InMemory::default()) };
    Endpoint::new(server).state(app).auth(tokens).without_rate_limit()
}

fn request(endpoint: &Endpoint, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = http::Request::post("http://localhost/mcp")
        .header("Authorization", "Bearer of-ada")
        .header("Content-Type", "application/json")
        .body(body.to_string())
        .expect("a request");
    let response = edge_mcp::testing::call(endpoint, request, &TestHost::new()).expect("an answer");
    serde_json::from_slice::<Value>(response.body()).expect("JSON")["result"].take()
}

fn call(endpoint: &Endpoint, tool: &str, arguments: Value) -> Value {
    request(endpoint, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

#[test]
fn a_desk_is_booked_once_a_day() {
    let endpoint = endpoint();
    let booking = json!({ "date": "2026-12-24", "desk": 7, "person": "ada" });
    let arguments = json!({ "date": "2026-12-24", "desk": 7 });
    let booked = call(&endpoint, "book-desk", arguments.clone());
    assert_eq!(booked["structuredContent"], booking);

    let again = call(&endpoint, "book-desk", arguments);
    assert_eq!(again["isError"], true);
    let text = again["content"][0]["text"].as_str().expect("text");
    assert!(text.starts_with("Desk 7 is taken on 2026-12-24."), "{text}");

    let listed = call(&endpoint, "list-bookings", json!({ "date": "2026-12-24" }));
    assert_eq!(listed["structuredContent"], json!({ "bookings": [booking], "free": 19 }));
    let other_day = call(&endpoint, "list-bookings", json!({ "date": "2026-12-25" }));
    assert_eq!(other_day["structuredContent"], json!({ "bookings": [], "free": 20 }));
}

#[test]
fn arguments_outside_the_schema_are_rejected() {
    let endpoint = endpoint();
    for arguments in [
        json!({ "date": "tomorrow", "desk": 7 }),
        json!({ "date": "2026-12-24", "desk": 21 }),
        json!({ "date": "2026-12-24" }),
    ] {
        let result = call(&endpoint, "book-desk", arguments.clone());
        assert_eq!(result["isError"], true, "{arguments}");
    }
    let listed = call(&endpoint, "list-bookings", json!({ "date": "2026-12-24" }));
    assert_eq!(listed["structuredContent"]["free"], 20);
}

#[test]
fn the_resource_and_the_prompt_have_the_bookings() {
    let endpoint = endpoint();
    call(&endpoint, "book-desk", json!({ "date": "2026-12-24", "desk": 7 }));
    let list = "# Desks on 2026-12-24\n\n- Desk 7: ada";

    let read = request(&endpoint, "resources/read", json!({ "uri": "desks://days/2026-12-24" }));
    assert_eq!(read["contents"][0]["text"], list);

    let arguments = json!({ "date": "2026-12-24", "colleague": "ada" });
    let prompt = request(&endpoint, "prompts/get", json!({ "name": "plan-day", "arguments": arguments }));
    let text = prompt["messages"][0]["content"]["text"].as_str().expect("text");
    assert!(text.starts_with(list) && text.contains("as near to ada as possible"), "{text}");
}
