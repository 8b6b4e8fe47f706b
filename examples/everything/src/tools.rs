//! Tools: arguments, results, progress and deadlines.

use std::pin::pin;
use std::time::Duration;

use edge_mcp::content::{Annotations, Role};
use edge_mcp::protocol::LogLevel;
use edge_mcp::{Content, Context, HandlerError, Json, ResourceContents, ResourceDescription, Tool};
use futures::future::{Either, select};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A PNG image of one red pixel.
pub(crate) const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";
/// A WAV file without samples.
pub(crate) const SILENCE: &[u8] =
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0";

#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// The first number
    #[schemars(range(min = -1_000_000, max = 1_000_000))]
    a: f64,
    /// The second number
    #[schemars(range(min = -1_000_000, max = 1_000_000))]
    b: f64,
}

#[derive(Serialize, JsonSchema)]
struct Total {
    total: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    /// The last number of the list
    #[schemars(range(min = 1, max = 20))]
    to: u32,
}

pub(crate) fn all() -> Vec<Tool> {
    vec![
        Tool::new("hello", "Takes no arguments and returns text.", || async { "Hello" })
            .title("Hello")
            .read_only()
            .closed_world(),
        Tool::new("add", "Adds two numbers and returns an object.", |Sum { a, b }: Sum| async move {
            Json(Total { total: a + b })
        })
        .title("Addition")
        .read_only()
        .idempotent()
        .closed_world(),
        Tool::new(
            "count",
            "Returns a list of numbers. Older clients get the list as a member of an object.",
            |Count { to }: Count| async move { Json((1..=to).collect::<Vec<_>>()) },
        )
        .title("Count")
        .read_only()
        .closed_world(),
        Tool::new("blocks", "Returns a content block of each kind.", || async { blocks() })
            .title("Blocks")
            .read_only()
            .closed_world(),
        Tool::new("whoami", "Returns the name of the client and the protocol revision.", whoami)
            .title("Who am I")
            .read_only()
            .closed_world(),
        Tool::new("work", "Reports progress while it runs.", work).title("Work").read_only().closed_world(),
        Tool::new("linger", "Runs until the client disconnects, for at most 60 seconds.", linger)
            .title("Linger")
            .deadline(Duration::from_mins(1))
            .read_only()
            .closed_world(),
        Tool::new("fail", "Always fails with an error message.", || async {
            Err::<String, _>(HandlerError::new("This tool always fails. Call another."))
        })
        .title("Fail")
        .destructive()
        .open_world(),
    ]
}

/// Reports three steps. It waits after each step, so that tests can observe that notifications are sent one by one.
async fn work(cx: Context) -> &'static str {
    for (step, name) in [(1.0, "reading"), (2.0, "thinking"), (3.0, "writing")] {
        cx.progress(step, Some(3.0), name);
        cx.log(LogLevel::Info, name);
        worker::Delay::from(Duration::from_millis(200)).await;
    }
    "worked"
}

/// Runs until its client disconnects, for at most 60 s. It logs the disconnection, because no client receives its result.
async fn linger(cx: Context) -> &'static str {
    let mut cancelled = pin!(cx.cancelled());
    for second in 0..60_u32 {
        // The platform detects a closed connection only when the server writes to it.
        cx.progress(f64::from(second), None, "lingering");
        let pause = worker::Delay::from(Duration::from_secs(1));
        if let Either::Left(_) = select(cancelled.as_mut(), pause).await {
            worker::console_log!("the client of linger has disconnected");
            break;
        }
    }
    "gone"
}

async fn whoami(cx: Context) -> String {
    let client = cx.client_info().map_or("an unnamed client", |info| &*info.name).to_owned();
    format!("{client}, in {}", cx.revision())
}

fn blocks() -> Vec<Content> {
    vec![
        Content::text("Text").annotations(Annotations::new().audience(Role::User).priority(1.0)),
        Content::image(PIXEL, "image/png"),
        Content::audio(SILENCE, "audio/wav"),
        Content::resource(ResourceContents::text("demo://note", "An embedded note").mime_type("text/plain")),
        Content::link(ResourceDescription::new("demo://text", "text").title("A text resource")),
    ]
}
