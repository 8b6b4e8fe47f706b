//! `subscriptions/listen` with the ids of tasks.

use std::time::Duration;

use edge_mcp::http::{Body, EventStream};
use edge_mcp::protocol::Revision;
use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, Client};
use edge_mcp::{Context, Endpoint, HandlerError, Limits, McpServerBuilder, StaticTokens, Tool};
use edge_mcp_test_support::{Answer, Ask, events, modern_as, on};
use futures::executor::LocalPool;
use futures::{FutureExt, StreamExt};
use serde_json::{Map, Value, json};

use crate::world::{EXTENSION, World, all, created, endpoint};

const LISTEN: &str = "subscriptions/listen";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Sleeps three times for a minute, and says so.
async fn rest(cx: Context) -> &'static str {
    for nth in ["first", "second", "third"] {
        cx.progress(0.0, None, nth);
        cx.sleep(Duration::from_mins(1)).await;
    }
    "rested"
}

fn items(server: McpServerBuilder) -> McpServerBuilder {
    let sleep = async |cx: Context| cx.sleep(Duration::from_hours(20)).await;
    let ask = async |cx: Context| {
        let agreed = cx.confirm("agree", "Do you agree?").await?;
        Ok::<_, HandlerError>(format!("{agreed} {}", cx.confirm("sure", "Are you sure?").await?))
    };
    server
        .tool(Tool::new("rest", "Rests.", rest).task(Task::new()).scopes(["jobs"]))
        .tool(Tool::new("ask", "Asks.", ask).task(Task::new()))
        .tool(Tool::new("sleep", "Sleeps.", sleep).task(Task::new()))
        .tool(Tool::new("short", "Sleeps.", sleep).task(Task::new().ttl(Duration::from_mins(1))))
        .tool(Tool::new("long", "Answers.", async || "x".repeat(600 << 10)).task(Task::new()))
}

/// Returns a request to listen, of a client with these capabilities.
fn ask(id: &Value, filter: &Value, capabilities: &Value) -> Ask {
    let ask = modern_as(id, LISTEN, json!({ "notifications": filter, "unknown": 1 }));
    let mut message: Value = serde_json::from_slice(&ask.body).expect("JSON");
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    ask.with_body(message.to_string()).header("Accept", "application/json, text/event-stream")
}

/// Listens to the end of the stream.
async fn listen_at(world: &World, filter: Value, capabilities: Value) -> Answer {
    ask(&json!(7), &filter, &capabilities).send(&world.endpoint, &world.host).await
}

/// A stream that a client reads.
struct Listening {
    pool: LocalPool,
    stream: EventStream,
    /// The number of comments so far.
    comments: usize,
}

impl Listening {
    fn open(world: &World, request: Ask) -> Self {
        let mut pool = LocalPool::new();
        let host = on(&pool, &world.host);
        let response = pool.run_until(request.raw(&world.endpoint, &host));
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        match response.into_body() {
            Body::Stream(stream) => Self { pool, stream, comments: 0 },
            Body::Bytes(bytes) => panic!("no stream: {}", String::from_utf8_lossy(&bytes)),
        }
    }

    fn of(world: &World, ids: &[&str]) -> Self {
        Self::open(world, ask(&json!(7), &json!({ "taskIds": ids }), &all()))
    }

    /// Returns the messages that have arrived, and whether the stream has ended.
    fn read(&mut self) -> (Vec<Value>, bool) {
        let mut messages = Vec::new();
        loop {
            self.pool.run_until_stalled();
            match self.stream.next().now_or_never() {
                Some(Some(event)) => {
                    self.comments += usize::from(event.starts_with(b":"));
                    messages.extend(events(&event));
                }
                Some(None) => return (messages, true),
                None => return (messages, false),
            }
        }
    }

    /// Reads for this time, second by second. Returns the messages, and the second in which the stream ended.
    fn read_for(&mut self, world: &World, seconds: u64) -> (Vec<Value>, Option<u64>) {
        let mut all = Vec::new();
        for second in 1..=seconds {
            world.advance(1);
            let (messages, is_over) = self.read();
            all.extend(messages);
            if is_over {
                return (all, Some(second));
            }
        }
        (all, None)
    }
}

/// Returns an endpoint that knows these tokens.
fn with(tokens: &Value) -> Endpoint {
    endpoint(items).auth(StaticTokens::from_json("T", Some(&tokens.to_string())).expect("tokens"))
}

/// Runs the attempts that are due.
fn run(world: &World) {
    testing::run(world.run());
}

fn start(world: &World, tool: &str) -> String {
    testing::run(world.start(tool, json!({})))
}

/// Returns the params of the notification about the state of a task, as `tasks/get` describes it now.
fn state(world: &World, id: &str) -> Value {
    let mut state = testing::run(world.get(id));
    state.as_object_mut().expect("an object").remove("resultType");
    state["_meta"] = json!({ SUBSCRIPTION: 7 });
    state
}

fn notification(params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/tasks", "params": params })
}

/// Removes the suggested poll interval, which grows with the age of a task and is not a change.
fn steady(mut messages: Vec<Value>) -> Vec<Value> {
    for message in &mut messages {
        message["params"].as_object_mut().expect("params").remove("pollIntervalMs");
    }
    messages
}

fn acknowledged(ids: &[&str]) -> Value {
    let params = json!({ "_meta": { SUBSCRIPTION: 7 }, "notifications": { "taskIds": ids } });
    json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params })
}

fn end() -> Value {
    let meta = json!({ SUBSCRIPTION: 7, "io.modelcontextprotocol/serverInfo": { "name": "s", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 7, "result": { "resultType": "complete", "_meta": meta } })
}

/// T28, U2, U3, U4, U6, U7: the acknowledgement comes first. Then each change is one notification with the whole task, the first one at
/// once. After the end of the task, the stream ends with its result. In between, comments keep it open.
#[test]
fn each_change_is_a_notification() {
    let world = World::new(items);
    let id = start(&world, "rest");
    let mut listening = Listening::of(&world, &[&id]);
    let (first, is_over) = listening.read();
    assert_eq!(first, [acknowledged(&[&id]), notification(&state(&world, &id))]);
    assert!(!is_over);
    for message in ["first", "second", "third"] {
        run(&world);
        assert_eq!(state(&world, &id)["statusMessage"], message);
        let expected = notification(&state(&world, &id));
        let comments = listening.comments;
        let (changes, ended) = listening.read_for(&world, 60);
        assert!(listening.comments - comments >= 11, "comments keep the stream open");
        assert_eq!((steady(changes), ended), (steady(vec![expected]), None));
    }
    run(&world);
    let (last, ended) = listening.read_for(&world, 16);
    assert_eq!(last, [notification(&state(&world, &id)), end()]);
    assert_eq!(last[0]["params"]["result"]["content"][0]["text"], "rested");
    assert!(ended.is_some());
}

/// T28: questions and errors are part of the notifications. The stream ends after all its tasks have ended, in whatever way.
#[test]
fn a_stream_ends_after_all_its_tasks() {
    let world = World::new(items);
    let (question, sleeping, done) = (start(&world, "ask"), start(&world, "sleep"), start(&world, "long"));
    run(&world);
    let mut listening = Listening::of(&world, &[&question, &sleeping, &done]);
    let (first, _) = listening.read();
    assert_eq!(first[0], acknowledged(&[&question, &sleeping, &done]));
    let states: Vec<_> = [&question, &sleeping, &done].map(|id| notification(&state(&world, id))).into();
    assert_eq!(first[1..], states);
    let (mut known, answer) = (first[1].clone(), json!({ "action": "accept", "content": { "agree": true } }));
    // The status is the same after the first answer, but the question is another one.
    for status in ["input_required", "completed"] {
        let questions = known["params"]["inputRequests"].as_object().expect("questions");
        let answers: Value = questions.keys().map(|key| (key.clone(), answer.clone())).collect::<Map<_, _>>().into();
        world.advance(1);
        assert!(testing::run(world.update(&question, answers)).error().is_none());
        run(&world);
        let (changes, ended) = listening.read_for(&world, 5);
        known = notification(&state(&world, &question));
        assert_eq!(known["params"]["status"], status);
        assert_eq!((steady(changes), ended), (steady(vec![known.clone()]), None));
    }
    testing::run(world.cancel(&sleeping));
    let (last, ended) = listening.read_for(&world, 5);
    assert_eq!(last, [notification(&state(&world, &sleeping)), end()]);
    assert!(last[0]["params"]["status"] == "cancelled" && ended.is_some());
    // An ended task is told as well.
    let (messages, is_over) = Listening::of(&world, &[&sleeping]).read();
    assert_eq!(messages, [acknowledged(&[&sleeping]), notification(&state(&world, &sleeping)), end()]);
    assert!(is_over);
}

/// T21, T28, U3: ids that are not those of a task of the caller are left out, whatever the reason, and without a message to an object.
#[test]
fn other_ids_are_left_out() {
    let tokens = json!([
        { "token": "ada", "subject": "ada", "scopes": ["jobs"] },
        { "token": "bob", "subject": "bob", "scopes": ["jobs"] },
        { "token": "less", "subject": "bob", "scopes": [] },
    ]);
    let world = World::of(with(&tokens));
    let start = |token: &str, tool: &str| created(&testing::run(world.client().token(token).call(tool, json!({}))));
    let (of_ada, of_bob, expired) = (start("ada", "rest"), start("bob", "rest"), start("bob", "short"));
    world.advance(61);
    let open = |ids: &[&str]| {
        let request = ask(&json!(7), &json!({ "taskIds": ids, "toolsListChanged": true }), &all());
        Listening::open(&world, request.header("Authorization", "Bearer bob")).read()
    };
    for id in [&*of_ada, &*expired, "t1.x", "", "t1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
        let before = world.tasks.messages();
        assert_eq!(open(&[id]), (vec![acknowledged(&[]), end()], true), "{id}");
        assert_eq!(world.tasks.messages() - before, usize::from(id == expired), "{id}");
        let (messages, is_over) = open(&[id, &of_bob]);
        assert_eq!((&messages[0], messages.len(), is_over), (&acknowledged(&[&of_bob]), 2, false));
    }
    assert_eq!(open(&[]), (vec![acknowledged(&[]), end()], true));
    // Bob without the scope of the tool.
    let request = ask(&json!(7), &json!({ "taskIds": [of_bob] }), &all()).header("Authorization", "Bearer less");
    assert_eq!(Listening::open(&world, request).read(), (vec![acknowledged(&[]), end()], true));
}

/// T28: a stream has at most five tasks, each once.
#[test]
fn a_stream_has_at_most_five_tasks() {
    let world = World::new(items);
    let ids: Vec<_> = (0..6).map(|_| start(&world, "rest")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let before = world.tasks.messages();
    let (messages, _) = Listening::of(&world, &ids).read();
    assert_eq!((&messages[0], messages.len()), (&acknowledged(&ids[..5]), 6));
    assert_eq!(world.tasks.messages() - before, 5);
    let (messages, _) = Listening::of(&world, &[ids[0], ids[0]]).read();
    assert_eq!((&messages[0], messages.len()), (&acknowledged(&ids[..1]), 2));
}

/// U6: a stream ends with its result before the token of its caller expires, and after 10 minutes at the latest. Its polls are rare.
#[test]
fn a_stream_ends_in_time() {
    let tokens = json!([
        { "token": "brief", "subject": "ada", "scopes": [], "expires": 1_800_000_030 },
        { "token": "long", "subject": "ada", "scopes": [] },
    ]);
    let world = World::of(with(&tokens));
    let id = created(&testing::run(world.client().token("long").call("sleep", json!({}))));
    run(&world);
    for (token, times) in [("brief", 20..30), ("long", 585..601)] {
        let before = world.tasks.messages();
        let request = ask(&json!(7), &json!({ "taskIds": [id] }), &all());
        let mut listening = Listening::open(&world, request.header("Authorization", format!("Bearer {token}")));
        assert_eq!(listening.read().0.len(), 2);
        let (messages, ended) = listening.read_for(&world, 700);
        assert_eq!(messages, [end()]);
        assert!(ended.is_some_and(|second| times.contains(&second)), "{token} {ended:?}");
        assert!(world.tasks.messages() - before <= 70, "{token}");
    }
}

/// U6: the polls stop when the client closes the stream.
#[test]
fn a_closed_stream_is_not_polled() {
    let world = World::new(items);
    let id = start(&world, "sleep");
    let mut listening = Listening::of(&world, &[&id]);
    listening.read();
    let before = world.tasks.messages();
    listening.read_for(&world, 3);
    assert_eq!(world.tasks.messages() - before, 3);
    let Listening { mut pool, stream, .. } = listening;
    drop(stream);
    pool.run_until_stalled();
    for _ in 0..60 {
        world.advance(1);
        pool.run_until_stalled();
    }
    assert_eq!(world.tasks.messages() - before, 3);
    pool.run();
}

/// T28: a task that expires is dropped from the stream. A task whose object cannot be read for a while stays.
#[test]
fn an_expired_task_is_dropped() {
    let world = World::new(items);
    let id = start(&world, "short");
    run(&world);
    let mut listening = Listening::of(&world, &[&id]);
    listening.read();
    let is_record = |key: &str| key.ends_with("/task");
    let (key, record) = world.tasks.rows().into_iter().find(|(key, _)| is_record(key)).expect("a record");
    world.tasks.write_row(&key, b"{}");
    assert_eq!(listening.read_for(&world, 20), (Vec::new(), None));
    world.tasks.write_row(&key, &record);
    let (messages, ended) = listening.read_for(&world, 60);
    assert_eq!(messages, [end()]);
    assert!(ended.is_some_and(|second| (40..50).contains(&second)), "{ended:?}");
}

/// T28: a client that reads slowly misses no end of a task. If the notifications exceed the limit of a response, the stream ends.
#[test]
fn long_results_are_sent_one_after_the_other() {
    let open = |endpoint: Endpoint| {
        let world = World::of(endpoint);
        let ids: Vec<_> = (0..3).map(|_| start(&world, "long")).collect();
        run(&world);
        let mut listening = Listening::of(&world, &ids.iter().map(String::as_str).collect::<Vec<_>>());
        let (first, is_over) = listening.read();
        (world, listening, first, is_over)
    };
    let (world, mut listening, first, is_over) = open(endpoint(items));
    assert_eq!((first.len(), is_over), (2, false), "the acknowledgement, and the first task");
    let before = world.tasks.messages();
    world.host.advance(Duration::from_millis(500));
    assert_eq!(listening.read(), (Vec::new(), false));
    assert_eq!(listening.read_for(&world, 1).0.len(), 1);
    let (last, ended) = listening.read_for(&world, 1);
    assert_eq!((last.len(), &last[1], ended), (2, &end(), Some(1)));
    assert_eq!(world.tasks.messages(), before, "a task that has ended is not read again");

    let mut limits = Limits::default();
    limits.output = 1 << 20;
    let (_, _, first, is_over) = open(endpoint(items).limits(limits));
    assert_eq!((first.len(), &first[2], is_over), (3, &end(), true));
}

/// U4, U5: each message of a stream has the id of its request, as it was sent.
#[test]
fn each_stream_has_its_own_id() {
    let world = World::new(items);
    let id = start(&world, "sleep");
    let request = |subscription: &str| {
        let ask = ask(&json!("ID"), &json!({ "taskIds": [id] }), &all());
        let message = String::from_utf8(ask.body.clone()).expect("UTF-8").replace("\"ID\"", subscription);
        ask.with_body(message)
    };
    // No number type holds the last id exactly. The test can still parse it as a number.
    let ids = ["\"7\"", "7", &"9".repeat(50)];
    let mut streams: Vec<_> = ids.iter().map(|id| Listening::open(&world, request(id))).collect();
    let mut sent: Vec<_> = streams.iter_mut().map(|stream| stream.read().0).collect();
    testing::run(world.cancel(&id));
    for ((id, stream), sent) in ids.iter().zip(&mut streams).zip(&mut sent) {
        sent.extend(stream.read_for(&world, 1).0);
        assert_eq!(sent.len(), 4);
        for message in sent {
            let meta = message.get("params").unwrap_or(&message["result"])["_meta"].clone();
            assert_eq!(meta[SUBSCRIPTION], serde_json::from_str::<Value>(id).expect("JSON"), "{message}");
        }
    }
}

/// T21, U10: without the capability, ids are rejected. A request without ids needs no capability.
#[test]
fn ids_need_the_capability() {
    testing::run(async {
        let world = World::new(items);
        let id = world.start("rest", json!({})).await;
        for capabilities in [json!({}), json!({ "extensions": { "com.example/tasks": {} } })] {
            for ids in [json!([id]), json!([])] {
                let answer = listen_at(&world, json!({ "taskIds": ids }), capabilities.clone()).await;
                assert_eq!(answer.refusal(), (400, -32021));
                let required = json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } });
                assert_eq!(answer.body.expect("a body")["error"]["data"], required);
            }
        }
    });
}

/// T28, U1: ids that are not an array of strings are rejected.
#[test]
fn ids_are_strings() {
    testing::run(async {
        let world = World::new(items);
        for ids in [json!(null), json!("t1.x"), json!([1]), json!([null]), json!({})] {
            assert_eq!(listen_at(&world, json!({ "taskIds": ids }), all()).await.refusal(), (200, -32602), "{ids}");
        }
        for filter in [json!(null), json!([]), json!("taskIds")] {
            assert_eq!(listen_at(&world, filter.clone(), all()).await.refusal(), (200, -32602), "{filter}");
        }
    });
}

/// T28: without ids, without tasks, and without streams, ids change nothing.
#[test]
fn other_streams_are_empty_as_before() {
    let expected = concat!(
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":",
        "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":7},\"notifications\":{}}}\n\n",
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"resultType\":\"complete\",\"_meta\":",
        "{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"},",
        "\"io.modelcontextprotocol/subscriptionId\":7}}}\n\n",
    );
    testing::run(async {
        let world = World::new(items);
        let tool = || Tool::new("now", "Answers.", || async { "now" });
        let (without_tool, without_objects) = (World::new(|server| server.tool(tool())), endpoint(items));
        let (ids, other) = (json!({ "taskIds": ["t1.x"] }), json!({ "toolsListChanged": true }));
        for (endpoint, filter) in [
            (&*world.endpoint, &json!({})),
            (&*world.endpoint, &other),
            (&*without_tool.endpoint, &ids),
            (&without_objects, &ids),
        ] {
            for capabilities in [all(), json!({})] {
                let answer = ask(&json!(7), filter, &capabilities).send(endpoint, &world.host).await;
                assert_eq!(String::from_utf8_lossy(answer.body()), expected, "{filter}");
            }
        }
        let json_only = World::of(endpoint(items).json_only());
        assert_eq!(listen_at(&json_only, ids.clone(), all()).await.refusal(), (404, -32601));
        for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
            let client = Client::new(&world.endpoint).host(&world.host).capabilities(all()).revision(revision);
            let answer = client.request(LISTEN, json!({ "notifications": ids })).await;
            let expected = "This server does not serve the method \"subscriptions/listen\".";
            assert_eq!((answer.status(), answer.error()), (200, Some((-32601, expected))));
        }
    });
}
