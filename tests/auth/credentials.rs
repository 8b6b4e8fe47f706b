//! The credentials of a caller, which the program does not see unless it names them.

use std::cell::{Cell, RefCell};
use std::future::{Ready, ready};
use std::net::IpAddr;
use std::rc::Rc;

use edge_mcp::extension::{Extension, ExtensionMethod};
use edge_mcp::http::PageRequest;
use edge_mcp::source::{ListKind, Source, SourceItems};
use edge_mcp::testing::{self, Client};
use edge_mcp::{
    BuildError, Completion, CompletionRequest, Context, Endpoint, McpServer, Prompt, RequestInfo, Resource,
    ResourceDescription, ResourceTemplate, StaticTokens, Tool,
};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::Request;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const TOKEN: &str = "s3cret";
const HEADERS: [&str; 4] = ["authorization", "Cookie", "PROXY-AUTHORIZATION", "x-tenant"];

/// The headers that each part of the program saw: its name, and a letter for each visible header.
#[derive(Clone, Default)]
struct Seen(Rc<RefCell<Vec<(&'static str, String)>>>);

impl Seen {
    fn note(&self, place: &'static str, header: impl Fn(&str) -> Option<String>) {
        let letters = HEADERS.iter().zip(["a", "c", "p", "x"]);
        let visible = letters.filter(|(name, _)| header(name).is_some()).map(|(_, letter)| letter).collect();
        self.0.borrow_mut().push((place, visible));
    }

    fn request(&self, place: &'static str, request: &RequestInfo) {
        self.note(place, |name| request.header(name));
    }

    fn context(&self, place: &'static str, cx: &Context) {
        self.note(place, |name| cx.header(name));
        self.note(place, |name| cx.request().header(name));
    }
}

#[derive(Deserialize, JsonSchema)]
struct Named {
    #[allow(dead_code)]
    name: String,
}

/// Returns a handler that notes the headers that it sees, and returns `value`.
fn looking<T: Clone + 'static>(seen: &Seen, place: &'static str, value: T) -> impl Fn(Context) -> Ready<T> + use<T> {
    let seen = seen.clone();
    move |cx| {
        seen.context(place, &cx);
        ready(value.clone())
    }
}

/// Returns a handler with arguments.
fn looking_at<A, T: Clone + 'static>(
    seen: &Seen,
    place: &'static str,
    value: T,
) -> impl Fn(A, Context) -> Ready<T> + use<A, T> {
    let look = looking(seen, place, value);
    move |_, cx| look(cx)
}

/// A source that looks at the headers.
struct Looking(Seen);

impl Source for Looking {
    fn find(&self, _: ListKind, cx: &Context) -> LocalBoxFuture<'static, SourceItems> {
        self.0.context("source", cx);
        ready(SourceItems::default().answered()).boxed_local()
    }
}

/// Returns a server whose parts note the headers that they see.
fn server(seen: &Seen) -> Result<McpServer, BuildError> {
    let (visible, hook, approval) = (seen.clone(), seen.clone(), seen.clone());
    let tool = Tool::new("tool", "Looks.", looking(seen, "tool", "done"))
        .visible_if(move |request| {
            visible.request("visible_if", request);
            true
        })
        .hook(move |_, cx| {
            hook.context("hook", &cx);
            ready(Ok(()))
        })
        .requires_approval(async move |_: Value, cx: Context| {
            approval.context("approval", &cx);
            Ok(None)
        });
    let template = ResourceTemplate::new("test://many/{name}", looking_at::<Named, _>(seen, "template", "many"))
        .list(looking(seen, "list", Vec::<ResourceDescription>::new()));
    let prompt = Prompt::new("prompt", looking_at::<Named, _>(seen, "prompt", "look")).complete(
        "name",
        Completion::with(looking_at::<CompletionRequest, _>(seen, "completion", vec!["a".to_owned()])),
    );
    let extension = Extension::new("com.example/look", json!({}))
        .method(ExtensionMethod::new("look/now", looking(seen, "extension", ())));
    McpServer::builder("s", "1")
        .tool(tool)
        .resource(Resource::new("test://one", looking(seen, "resource", "one")))
        .resource_template(template)
        .prompt(prompt)
        .serve(extension)
        .source(Looking(seen.clone()))
        .build()
}

/// Sends a request to each part of the program, and returns what the parts saw.
fn seen(configure: impl Fn(Endpoint) -> Endpoint) -> Vec<(&'static str, String)> {
    let seen = Seen::default();
    let (of_server, of_each, of_page) = (seen.clone(), seen.clone(), seen.clone());
    let endpoint = testing::endpoint(move |request| {
        of_server.request("server", request);
        server(&of_server)
    });
    let endpoint = endpoint
        .each(move |request: &RequestInfo| {
            of_each.request("each", request);
            Ok(())
        })
        .page("/page", move |_: PageRequest, cx: Context| {
            of_page.context("page", &cx);
            ready(Ok(http::Response::new("page")))
        });
    let tokens = json!([{ "token": TOKEN, "subject": "ada", "scopes": [] }]).to_string();
    let tokens = StaticTokens::from_json("T", Some(&tokens)).expect("tokens");
    let endpoint = configure(endpoint.auth(tokens));
    let client = Client::new(&endpoint)
        .token(TOKEN)
        .header("cookie", "session=s3cret")
        .header("proxy-authorization", "Basic s3cret")
        .header("x-tenant", "blue");
    testing::run(async {
        assert!(!client.call("tool", json!({})).await.is_error());
        assert_eq!(client.read("test://one").await.text(), "one");
        assert_eq!(client.read("test://many/a").await.text(), "many");
        client.list("resources").await;
        client.list("tools").await;
        assert_eq!(client.prompt("prompt", json!({ "name": "a" })).await.text(), "look");
        let reference = json!({ "type": "ref/prompt", "name": "prompt" });
        let params = json!({ "ref": reference, "argument": { "name": "name", "value": "" } });
        assert_eq!(client.request("completion/complete", params).await.status(), 200);
        assert_eq!(client.request("look/now", json!({})).await.status(), 200);
        let page = Request::get("http://localhost/page").header("authorization", "x").header("cookie", "x");
        let page = page.header("proxy-authorization", "x").header("x-tenant", "x");
        let page = page.extension(IpAddr::from([127, 0, 0, 1]));
        assert_eq!(client.send(page.body(Cell::new(Vec::new())).expect("a request")).await.status(), 200);
    });
    let mut all = seen.0.take();
    all.sort();
    all.dedup();
    all
}

const PLACES: [&str; 14] = [
    "approval",
    "completion",
    "each",
    "extension",
    "hook",
    "list",
    "page",
    "prompt",
    "resource",
    "server",
    "source",
    "template",
    "tool",
    "visible_if",
];

fn everywhere(visible: &str) -> Vec<(&'static str, String)> {
    PLACES.map(|place| (place, visible.to_owned())).to_vec()
}

#[test]
fn the_credentials_of_a_caller_are_absent_everywhere() {
    assert_eq!(seen(|endpoint| endpoint), everywhere("x"));
    assert_eq!(seen(|endpoint| endpoint.expose_header("x-tenant")), everywhere("x"));
}

#[test]
fn a_program_sees_the_credentials_that_it_names() {
    assert_eq!(seen(|endpoint| endpoint.expose_header("COOKIE")), everywhere("cx"));
    let all = |endpoint: Endpoint| {
        endpoint.expose_header("cookie").expose_header("Authorization").expose_header("proxy-authorization")
    };
    assert_eq!(seen(all), everywhere("acpx"));
}

/// A request that the program itself makes has the same rule.
#[test]
fn a_context_of_the_program_has_no_credentials() {
    let (head, ()) =
        Request::get("http://localhost/").header("authorization", "x").body(()).expect("a request").into_parts();
    let request = RequestInfo::new(Rc::new(head), None);
    assert_eq!(request.header("Authorization"), None);
}
