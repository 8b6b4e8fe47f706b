//! Approvals that look something up before they ask.

use std::borrow::Cow;
use std::future::pending;
use std::time::Duration;

use edge_mcp::host::FetchLimits;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, Endpoint, HandlerError, McpServer, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::concurrent_steps::yield_once;
use crate::input_required::{answer_all, retry};
use crate::rounds::{Done, ask_on, note, open, yes};
use crate::support::{Answer, legacy};

const TITLES: &str = "https://notes.example.com/title";

#[derive(Deserialize, JsonSchema)]
struct Note {
    id: u32,
}

/// Asks with the title of the note. A note with an empty title needs no approval.
async fn delete_titled(note: Note, cx: Context) -> Result<Option<Cow<'static, str>>, HandlerError> {
    let request = http::Request::get(format!("{TITLES}/{}", note.id)).body(String::new())?;
    let title = cx.fetch(request, FetchLimits::default()).await?;
    // The lookup waits, so the body of the request is dropped before the handler is called.
    yield_once().await;
    if title.status == 404 {
        return Err(HandlerError::not_found("There is no such note. Call list-notes for the ids."));
    }
    let title = String::from_utf8(title.success()?.body)?;
    Ok((!title.is_empty()).then(|| format!("Delete “{title}”?").into()))
}

fn endpoint(done: &Done) -> Endpoint {
    let done = done.clone();
    open(move || {
        let done = done.clone();
        let delete = move |Note { id }: Note| {
            note(&done, format!("deleted {id}"));
            async move { format!("Deleted {id}.") }
        };
        let delete = Tool::new("delete", "Deletes a note.", delete).requires_approval(delete_titled);
        McpServer::builder("notes", "1").tool(delete).build()
    })
}

fn call() -> Value {
    json!({ "name": "delete", "arguments": { "id": 7 } })
}

/// Returns a host with a note of this title.
fn titled(title: &str) -> TestHost {
    TestHost::new().respond("GET", format!("{TITLES}/7"), 200, title)
}

fn question(answer: &Answer) -> &str {
    answer.result()["inputRequests"]["edge-mcp/approval"]["params"]["message"].as_str().expect("a question")
}

#[test]
fn a_question_shows_what_the_approval_looked_up() {
    let done = Done::default();
    let endpoint = endpoint(&done);
    let first = ask_on(&endpoint, &call(), &titled("Plans"));
    assert_eq!(question(&first), "Delete “Plans”?\n\nTool: delete\nArguments: {\"id\":7}");
    assert!(done.borrow().is_empty());
    let second = ask_on(&endpoint, &retry(&call(), &first, answer_all(&first, &yes())), &titled("Plans"));
    assert_eq!((second.tool_text(), done.take()), (("Deleted 7.", false), vec!["deleted 7".to_owned()]));
}

/// The text is a part of the digest of the question, so an approval is not valid for another title.
#[test]
fn a_changed_title_is_asked_again() {
    let done = Done::default();
    let endpoint = endpoint(&done);
    let first = ask_on(&endpoint, &call(), &titled("Plans"));
    let second = ask_on(&endpoint, &retry(&call(), &first, answer_all(&first, &yes())), &titled("Wedding plans"));
    assert!(question(&second).starts_with("Delete “Wedding plans”?"), "{second:?}");
    assert!(done.borrow().is_empty());
    let third = ask_on(&endpoint, &retry(&call(), &second, answer_all(&second, &yes())), &titled("Wedding plans"));
    assert_eq!(third.tool_text(), ("Deleted 7.", false));
}

/// `None` means that the call does not need approval, so clients that cannot be asked can call it too.
#[test]
fn no_question_means_no_approval() {
    let done = Done::default();
    let ask = legacy("tools/call", call());
    assert_eq!(ask.ask_on(&endpoint(&done), &titled("")).tool_text(), ("Deleted 7.", false));
}

/// An error of the approval refuses the call. The caller gets its message, and the log its cause.
#[test]
fn an_error_of_the_approval_refuses_the_call() {
    let done = Done::default();
    let endpoint = endpoint(&done);
    let unknown = TestHost::new().respond("GET", format!("{TITLES}/7"), 404, "");
    let answer = ask_on(&endpoint, &call(), &unknown);
    assert_eq!(answer.tool_text(), ("There is no such note. Call list-notes for the ids.", true));
    let broken = TestHost::new().respond("GET", format!("{TITLES}/7"), 500, "");
    let answer = ask_on(&endpoint, &call(), &broken);
    assert_eq!(answer.tool_text(), ("The server failed to answer this request. Its log says why.", true));
    assert!(broken.log_text().contains("status 500"), "{}", broken.log_text());
    assert!(done.borrow().is_empty());
}

/// The deadline of the tool also ends an approval that takes too long.
#[test]
fn an_approval_has_the_deadline_of_its_tool() {
    let endpoint = open(|| {
        let slow = async |_: Note, _| pending().await;
        let delete = |_: Note| async { "deleted" };
        let delete = Tool::new("delete", "d", delete).deadline(Duration::from_secs(2)).requires_approval(slow);
        McpServer::builder("notes", "1").tool(delete).build()
    });
    let host = TestHost::new();
    let answer = ask_on(&endpoint, &call(), &host);
    let (text, is_error) = answer.tool_text();
    assert!(is_error && text.starts_with("The call did not finish within 2 s"), "{text}");
    assert_eq!(host.waits(), [Duration::from_secs(2)]);
}

/// An approval reads the arguments into a type. It rejects arguments that do not fit the type, such as a number that the type cannot hold.
#[test]
fn an_approval_rejects_arguments_that_its_type_rejects() {
    let endpoint = open(|| {
        #[derive(Deserialize, JsonSchema)]
        #[schemars(extend("additionalProperties" = true))]
        struct Open {
            id: u32,
        }
        let delete = |Open { id }: Open| async move { format!("Deleted {id}.") };
        let question = async |_: Value, _| Ok(None);
        McpServer::builder("notes", "1").tool(Tool::new("delete", "d", delete).requires_approval(question)).build()
    });
    let body = |arguments: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"delete\",\"arguments\":{arguments}}}}}"
        )
    };
    let large = legacy("tools/call", json!({})).with_body(body(r#"{"id":7,"size":1e400}"#)).ask_at(&endpoint);
    let (text, is_error) = large.tool_text();
    assert!(is_error && text.starts_with("The arguments of `delete` do not fit"), "{text}");
    let fitting = legacy("tools/call", json!({})).with_body(body(r#"{"id":7,"size":1e4}"#)).ask_at(&endpoint);
    assert_eq!(fitting.tool_text(), ("Deleted 7.", false));
}

struct Found(u32);

/// The handler gets the value that the question of its own call looked up, also if other calls of the request run at the same time.
#[test]
fn a_value_of_an_approval_belongs_to_its_call() {
    let endpoint = testing::endpoint(|_| {
        let pay = async |Note { id }: Note, cx: Context| {
            let found = cx.extension::<Found>().map(|found| found.0);
            format!("paid {found:?} for {id}")
        };
        let question = async |Note { id }: Note, cx: Context| {
            // Both calls look up before one of the handlers runs.
            yield_once().await;
            cx.extend(Found(0));
            cx.extend(Found(100 * id));
            Ok((id > 1).then(|| format!("Pay {}?", 100 * id).into()))
        };
        let both = async |cx: Context| {
            let pay = |id: u32| cx.call_tool("pay", json!({ "id": id }));
            let (one, two) = futures::try_join!(pay(1), pay(2))?;
            assert!(cx.extension::<Found>().is_none(), "the value is not that of the outer call");
            Ok::<_, HandlerError>(format!("{}, {}", one.text(), two.text()))
        };
        McpServer::builder("notes", "1")
            .tool(Tool::new("pay", "Pays.", pay).requires_approval(question))
            .tool(Tool::new("both", "Pays twice.", both))
            .build()
    });
    let answer = testing::run(Client::new(&endpoint).answer("edge-mcp/approval", json!({})).call("both", json!({})));
    assert_eq!(answer.text(), "paid Some(100) for 1, paid Some(200) for 2");
}
