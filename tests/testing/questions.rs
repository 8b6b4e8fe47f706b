//! Questions to the client: elicitation, sampling, roots and approval.

use edge_mcp::call::Sampling;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, call};
use edge_mcp::{Context, Endpoint, HandlerError, PromptMessage, Tool};
use serde_json::json;

use super::{City, serving};

async fn ship(cx: Context) -> Result<String, HandlerError> {
    let city = cx.elicit::<City>("address", "Where to?").await?.accepted().map(|City { city }| city);
    let question = Sampling::new(9).message(PromptMessage::user("Rhyme!"));
    let (rhyme, roots) = futures::join!(cx.sample("rhyme", question), cx.roots("roots"));
    let page = cx.elicit_url("page", "Pay.", "https://example.com/pay").await?.accepted();
    Ok(format!("{city:?} {} {} {}", rhyme?.text, roots?.len(), page.is_some()))
}

fn shop() -> Endpoint {
    serving(|server| {
        let outer = |cx: Context| async move { cx.call_tool("ship", json!({})).await };
        let remove = Tool::new("remove", "Removes all.", || async { "removed" });
        let endless = |cx: Context| async move {
            for nth in 0.. {
                cx.elicit::<City>(format!("q{nth}"), "Which?").await?;
            }
            Ok::<_, HandlerError>(())
        };
        server
            .tool(Tool::new("ship", "Ships.", ship))
            .tool(Tool::new("outer", "Calls it.", outer))
            .tool(Tool::new("endless", "Asks without end.", endless))
            .tool(remove.requires_approval(async |_: serde_json::Value, _| Ok(Some("Remove all?".into()))))
    })
}

fn answering(endpoint: &Endpoint) -> Client<'_> {
    Client::new(endpoint)
        .answer("address", json!({ "city": "Bern" }))
        .answer("rhyme", json!("fern"))
        .answer("roots", json!([{ "uri": "file:///a" }, { "uri": "file:///b" }]))
        .answer("page", json!({}))
}

/// The client sends the prepared answer to each kind of question, also to a question from a nested tool call.
#[test]
fn questions_are_answered_round_by_round() {
    let endpoint = shop();
    let answer = testing::run(answering(&endpoint).call("ship", json!({})));
    assert_eq!((answer.text(), answer.is_error()), (r#"Some("Bern") fern 2 true"#, false));
    let questions = answer.questions();
    assert_eq!(questions.keys().collect::<Vec<_>>(), ["address", "rhyme", "roots", "page"]);
    assert_eq!(questions["address"]["params"]["message"], "Where to?");
    assert_eq!(questions["rhyme"]["method"], "sampling/createMessage");
    let nested = testing::run(answering(&endpoint).call("outer", json!({})));
    assert_eq!(nested.text(), r#"Some("Bern") fern 2 true"#);
    assert!(nested.questions().keys().all(|key| key.starts_with("ship-")), "{nested:?}");
}

#[test]
fn a_client_can_decline_cancel_or_send_an_invalid_answer() {
    let endpoint = shop();
    for client in [answering(&endpoint).decline("address"), answering(&endpoint).cancel("address")] {
        assert_eq!(testing::run(client.call("ship", json!({}))).text(), "None fern 2 true");
    }
    let invalid = answering(&endpoint).reply("address", json!({ "action": "perhaps" }));
    assert_eq!(testing::run(invalid.call("ship", json!({}))).error().map(|(code, _)| code), Some(-32602));
    let approved = Client::new(&endpoint).answer("edge-mcp/approval", json!({}));
    assert_eq!(testing::run(approved.call("remove", json!({}))).text(), "removed");
    let declined = testing::run(Client::new(&endpoint).decline("edge-mcp/approval").call("remove", json!({})));
    assert!(declined.is_error() && declined.text().contains("not approved"), "{}", declined.text());
}

/// The text of the answer names the question that has no prepared answer. `questions` returns the questions of the call.
#[test]
fn a_question_without_a_prepared_answer_ends_the_call() {
    let answer = testing::run(call(&shop(), "ship", json!({})));
    assert_eq!((answer.status(), answer.is_error(), answer.error()), (200, true, None));
    assert!(answer.text().contains("`address`") && answer.text().contains("Where to?"), "{}", answer.text());
    assert!(answer.questions().contains_key("address") && answer.result()["requestState"].is_string());
}

#[test]
fn a_call_has_at_most_16_rounds() {
    let endpoint = shop();
    let city = json!({ "city": "Bern" });
    let client = (0..20).fold(Client::new(&endpoint), |client, nth| client.answer(format!("q{nth}"), city.clone()));
    let answer = testing::run(client.call("endless", json!({})));
    assert!(answer.is_error() && answer.text().contains("after 16 rounds"), "{}", answer.text());
    assert_eq!(answer.questions().len(), 16);
}

#[test]
fn a_question_needs_the_capability_and_a_modern_revision() {
    let endpoint = shop();
    let incapable = testing::run(answering(&endpoint).capabilities(json!({})).call("ship", json!({})));
    assert_eq!(incapable.error().map(|(code, _)| code), Some(-32021), "{}", incapable.text());
    let old = testing::run(answering(&endpoint).revision(Revision::V2025_11_25).call("ship", json!({})));
    assert!(old.is_error() && old.text().contains("the client cannot be asked"), "{}", old.text());
}
