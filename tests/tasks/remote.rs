//! A durable task whose handler calls a tool of another server, which is a durable task there.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{Failure, InProcess, McpClient, Peer, Transport, Upstream};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::protocol::Revision;
use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, Answer, Client, TestHost, TestTasks};
use edge_mcp::{Context, Endpoint, HandlerError, Tool};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, try_join};
use serde_json::{Value, json};

use crate::world::{Seen, World, effect, effects, endpoint, note, text, with_tokens};

/// The way to the depot, which records the requests.
#[derive(Clone)]
struct Line {
    depot: Rc<InProcess>,
    sent: Rc<RefCell<Vec<(u64, String, Value)>>>,
    /// The depot is down until this time, in milliseconds since 1970.
    down_until: Rc<Cell<u64>>,
}

impl Transport for Line {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let message: Value = serde_json::from_str(&request.body).expect("JSON");
        let method = message["method"].as_str().expect("a method").to_owned();
        self.sent.borrow_mut().push((host.now_ms(), method, message["params"].clone()));
        if host.now_ms() < self.down_until.get() {
            let down = Opened::new(502, http::HeaderMap::new(), Vec::new());
            return std::future::ready(Ok(down)).boxed_local();
        }
        self.depot.open(request, host)
    }
}

/// A server with durable tasks whose handler calls the depot, and the depot.
struct Two {
    outer: World,
    depot: TestTasks,
    line: Line,
    seen: Seen,
}

/// Returns the depot, whose tools work, sleep and ask. `load` sleeps for `time`.
fn depot(seen: &Seen, time: Duration) -> Endpoint {
    let seen = seen.clone();
    endpoint(move |server| {
        let (of_load, of_ask) = (seen.clone(), seen.clone());
        let load = move |cx: Context| {
            let seen = of_load.clone();
            async move {
                effect(&cx, &seen, "begin", 1).await?;
                cx.sleep(time).await;
                effect(&cx, &seen, "end", 1).await?;
                Ok::<_, HandlerError>("loaded")
            }
        };
        let ask = move |cx: Context| {
            let seen = of_ask.clone();
            async move {
                let is_sure = cx.confirm("sure", "Load it?").await?;
                effect(&cx, &seen, "asked", 1).await?;
                Ok::<_, HandlerError>(format!("sure: {is_sure}"))
            }
        };
        let rest = |cx: Context| async move {
            cx.sleep(Duration::from_hours(2)).await;
            "rested"
        };
        server
            .tool(Tool::new("load", "Loads.", load).task(Task::new()))
            .tool(Tool::new("ask", "Asks.", ask).task(Task::new()))
            .tool(Tool::new("rest", "Rests.", rest).task(Task::new().ttl(Duration::from_hours(700))))
    })
}

impl Two {
    /// Creates a server whose tool `work` runs `handler` with a client of the depot.
    fn new<F>(handler: fn(McpClient, Context, Seen) -> F) -> Self
    where
        F: Future<Output = Result<String, HandlerError>> + 'static,
    {
        Self::with_load(Duration::from_secs(6), handler)
    }

    /// The same, where the tool `load` of the depot sleeps for this time.
    fn with_load<F>(time: Duration, handler: fn(McpClient, Context, Seen) -> F) -> Self
    where
        F: Future<Output = Result<String, HandlerError>> + 'static,
    {
        let (host, seen) = (TestHost::new(), Seen::default());
        let objects = TestTasks::new(&host);
        let _attempts = objects.serve(with_tokens(depot(&seen, time)));
        let way = InProcess::new(with_tokens(depot(&seen, time)).task_objects(objects.clone()));
        let line = Line { depot: Rc::new(way), sent: Rc::default(), down_until: Rc::default() };
        let (transport, of_work) = (line.clone(), seen.clone());
        let outer = endpoint(move |server| {
            let upstream = Upstream::via("http://localhost/mcp", transport).expect("a URL");
            let upstream = upstream.revision(Revision::V2026_07_28).bearer("bob").expect("a token");
            let client = McpClient::builder("desk", "1").server("depot", upstream).build().expect("a client");
            let work = move |cx: Context| handler(client.clone(), cx, of_work.clone());
            server.tool(Tool::new("work", "Works.", work).task(Task::new().ttl(Duration::from_hours(720))))
        });
        Self { outer: World::on(host, with_tokens(outer)), depot: objects, line, seen }
    }

    fn client(&self) -> Client<'_> {
        self.outer.client().token("ada")
    }

    async fn get(&self, id: &str) -> Value {
        let answer = self.client().request("tasks/get", json!({ "taskId": id })).await;
        assert!(answer.error().is_none(), "{answer:?}");
        answer.result().clone()
    }

    async fn cancel(&self, id: &str) -> Answer {
        self.client().request("tasks/cancel", json!({ "taskId": id })).await
    }

    /// Runs the attempts of both that are due.
    async fn run(&self) {
        for _ in 0..4 {
            self.depot.run().await.expect("the attempts end");
            self.outer.run().await;
        }
    }

    /// Advances the clock to the next alarm of one of them.
    fn to_next_alarm(&self) {
        let next = [self.depot.next_alarm(), self.outer.tasks.next_alarm()].into_iter().flatten().min();
        let left = next.expect("an alarm").saturating_sub(self.outer.host.now_ms());
        self.outer.host.advance(Duration::from_millis(left));
    }

    /// Runs the task to its end, answers each question, and returns its state.
    async fn finish(&self, id: &str) -> Value {
        for _ in 0..5000 {
            self.run().await;
            let state = self.get(id).await;
            match state["status"].as_str().expect("a status") {
                "working" => self.to_next_alarm(),
                "input_required" => {
                    let keys = state["inputRequests"].as_object().expect("an object").keys();
                    let answer = |key: &String| (key.clone(), json!({ "action": "accept", "content": {} }));
                    let answers: Value = keys.map(answer).collect();
                    self.client().request("tasks/update", json!({ "taskId": id, "inputResponses": answers })).await;
                }
                _ => return state,
            }
        }
        panic!("the task does not end: {}", self.outer.host.log_text());
    }

    async fn complete(&self) -> Value {
        let id = self.start().await;
        self.finish(&id).await
    }

    /// Creates the task. A request that fails is repeated.
    async fn start(&self) -> String {
        for _ in 0..3 {
            let answer = self.client().call("work", json!({})).await;
            if let Some(id) = answer.result()["taskId"].as_str() {
                return id.to_owned();
            }
        }
        panic!("the task cannot be created");
    }

    fn count(&self, method: &str) -> usize {
        self.line.sent.borrow().iter().filter(|(_, sent, _)| sent == method).count()
    }

    /// Returns the times of the requests with a method.
    fn times(&self, method: &str) -> Vec<u64> {
        self.line.sent.borrow().iter().filter(|(_, sent, _)| sent == method).map(|(time, ..)| *time).collect()
    }
}

/// Calls a tool of the depot. If the depot cannot create the task, the call is repeated.
async fn called(depot: &Peer, tool: &str, cx: &Context) -> Result<String, HandlerError> {
    let first = depot.call(tool, json!({})).ask_caller(cx).await?;
    if !first.is_error() {
        return Ok(first.text());
    }
    Ok(depot.call(tool, json!({})).ask_caller(cx).await?.text())
}

async fn load(client: McpClient, cx: Context, seen: Seen) -> Result<String, HandlerError> {
    note(&seen, format!("attempt{}", cx.task().map_or(0, |task| task.attempt)));
    let depot = client.connect(&cx).server("depot")?;
    let loaded = called(&depot, "load", &cx).await?;
    let waited = effect(&cx, &seen, "after", 1).await?;
    Ok(format!("{loaded} {waited}"))
}

async fn ask(client: McpClient, cx: Context, _: Seen) -> Result<String, HandlerError> {
    let depot = client.connect(&cx).server("depot")?;
    called(&depot, "ask", &cx).await
}

async fn both(client: McpClient, cx: Context, _: Seen) -> Result<String, HandlerError> {
    let depot = client.connect(&cx).server("depot")?;
    let (loaded, asked) = try_join(called(&depot, "load", &cx), called(&depot, "ask", &cx)).await?;
    Ok(format!("{loaded} {asked}"))
}

async fn rest(client: McpClient, cx: Context, _: Seen) -> Result<String, HandlerError> {
    let depot = client.connect(&cx).server("depot")?;
    Ok(depot.call("rest", json!({})).await?.text())
}

async fn rest_for_a_minute(client: McpClient, cx: Context, seen: Seen) -> Result<String, HandlerError> {
    let depot = client.connect(&cx).server("depot")?;
    let error = depot.call("rest", json!({})).task_timeout(Duration::from_mins(1)).await.expect_err("it rests");
    let Failure::StillRunning(task) = error.failure() else { return Err(error.into()) };
    note(&seen, "late");
    let error = depot.task(task).task_timeout(Duration::from_mins(2)).await.expect_err("it rests");
    assert!(matches!(error.failure(), Failure::StillRunning(_)), "{error}");
    depot.cancel_task(task).await?;
    Ok(error.to_string())
}

/// The creation is sent once, and the task is polled at its interval by attempts that each end at once. No poll is repeated.
#[test]
fn a_remote_task_is_polled_by_sleeps() {
    testing::run(async {
        let two = Two::new(load);
        let began = two.outer.host.now_ms();
        let state = two.complete().await;
        assert_eq!(text(&state), "loaded 1");
        assert_eq!((two.count("tools/call"), two.count("tasks/cancel")), (1, 0));
        let times = two.times("tasks/get");
        assert!((5..12).contains(&times.len()), "{times:?}");
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 1000), "{times:?}");
        assert!(times[times.len() - 1] - began < 12_000, "{times:?}");
        let attempts = two.seen.borrow().iter().filter(|it| it.starts_with("attempt")).count();
        assert_eq!(attempts, times.len() + 1, "each attempt polls once");
        assert!(two.outer.host.waits().is_empty(), "{:?}", two.outer.host.waits());
    });
}

/// T17: the caller of the outer task answers the question of the inner one. Question and answer are sent once.
#[test]
fn the_questions_of_a_remote_task_are_passed_on() {
    testing::run(async {
        for (handler, expected) in
            [(ask_boxed as fn(_, _, _) -> LocalBoxFuture<'static, _>, "sure: true"), (both_boxed, "loaded sure: true")]
        {
            let two = Two::new(handler);
            let state = two.complete().await;
            assert_eq!(text(&state), expected);
            assert_eq!(two.count("tasks/update"), 1);
        }
    });
}

/// A task of hours is polled less and less often, so that the journal has room for it.
#[test]
fn a_long_task_is_polled_less_often() {
    testing::run(async {
        let two = Two::new(rest);
        let state = two.complete().await;
        assert_eq!(text(&state), "rested");
        let polls = two.count("tasks/get");
        assert!((150..300).contains(&polls), "{polls}");
        assert_eq!(two.count("tools/call"), 1);
    });
}

/// The limit of the wait counts the pauses, in whatever attempt. A later wait continues the same task.
#[test]
fn the_wait_has_a_limit() {
    testing::run(async {
        let two = Two::new(rest_for_a_minute);
        let state = two.complete().await;
        assert!(text(&state).contains("It continues the call as a task."), "{state}");
        let times = two.times("tasks/get");
        let (first, last) = (times[0], times[times.len() - 1]);
        assert!((170_000..190_000).contains(&(last - first)), "{}", last - first);
        assert_eq!((two.count("tools/call"), two.count("tasks/cancel")), (1, 1));
    });
}

/// An outage does not end the wait, and an attempt does not repeat the failed requests of earlier ones.
#[test]
fn an_outage_does_not_end_the_wait() {
    testing::run(async {
        let two = Two::new(load);
        let id = two.start().await;
        two.run().await;
        two.line.down_until.set(two.outer.host.now_ms() + 600_000);
        let state = two.finish(&id).await;
        assert_eq!(text(&state), "loaded 1");
        let times = two.times("tasks/get");
        // The client sends a request that fails once more.
        assert!(times.len() < 400, "{}", times.len());
        let mut distinct = times.clone();
        distinct.dedup();
        assert!(times.len() <= distinct.len() * 2, "{} {}", times.len(), distinct.len());
    });
}

/// T19: the cancellation of the outer task cancels the inner one, while the handler sleeps and while it runs.
#[test]
fn a_cancellation_reaches_the_remote_task() {
    testing::run(async {
        for pauses in 0..3 {
            let two = Two::new(load);
            let id = two.start().await;
            two.run().await;
            for _ in 0..pauses {
                two.to_next_alarm();
                two.run().await;
            }
            let polls = two.count("tasks/get");
            assert!(two.cancel(&id).await.error().is_none());
            two.run().await;
            assert_eq!(two.get(&id).await["status"], "cancelled");
            assert_eq!((two.count("tasks/cancel"), two.count("tasks/get"), two.count("tools/call")), (1, polls, 1));
            assert!(two.cancel(&id).await.error().is_none());
            two.run().await;
            assert_eq!(two.count("tasks/cancel"), 1);
            for _ in 0..3 {
                two.outer.advance(60);
                two.run().await;
            }
            assert!(!effects(&two.seen).contains(&"end".to_owned()), "the inner task goes on");
        }
    });
}

/// A cancelled handler that slept begins no step, and its last attempt is not repeated without end.
#[test]
fn a_cancelled_handler_only_releases() {
    testing::run(async {
        for nth in 1..30 {
            let two = Two::new(load);
            let id = two.start().await;
            two.run().await;
            // The next poll is due.
            two.to_next_alarm();
            let polls = two.count("tasks/get");
            two.outer.tasks.kill_at_write(nth);
            for _ in 0..3 {
                two.cancel(&id).await;
            }
            for _ in 0..10 {
                two.run().await;
                two.outer.advance(10);
            }
            assert_eq!(two.get(&id).await["status"], "cancelled", "write {nth}");
            assert_eq!(two.count("tasks/get"), polls, "write {nth}");
            if !two.outer.tasks.has_failed() {
                return;
            }
        }
        panic!("a cancellation has too many writes");
    });
}

/// At each write of the two servers, the program ends or the write fails. The result is that of an undisturbed run. (An answer that the other
/// server cannot store ends the call.)
#[test]
fn a_fault_at_each_write_changes_nothing() {
    testing::run(async {
        type Handler = fn(McpClient, Context, Seen) -> LocalBoxFuture<'static, Result<String, HandlerError>>;
        // Each poll is a write, and a poll is like the one before it.
        let new = |handler| Two::with_load(Duration::from_secs(2), handler);
        let handlers: [(Handler, &[bool]); 2] = [(load_boxed, &[false, true]), (both_boxed, &[false])];
        for (handler, of) in handlers {
            let undisturbed = new(handler);
            let expected = text(&undisturbed.complete().await).to_owned();
            for fault in [TestTasks::kill_at_write, TestTasks::fail_write] {
                for is_inner in of.iter().copied() {
                    let mut faults = 0;
                    for nth in 1.. {
                        let two = new(handler);
                        fault(if is_inner { &two.depot } else { &two.outer.tasks }, nth);
                        let state = two.complete().await;
                        assert_eq!(text(&state), expected, "inner {is_inner}, write {nth}");
                        let tasks = if is_inner { &two.depot } else { &two.outer.tasks };
                        if !tasks.has_failed() {
                            break;
                        }
                        faults = nth;
                    }
                    assert!(faults > 10, "{faults}");
                }
            }
        }
    });
}

fn load_boxed(client: McpClient, cx: Context, seen: Seen) -> LocalBoxFuture<'static, Result<String, HandlerError>> {
    load(client, cx, seen).boxed_local()
}

fn ask_boxed(client: McpClient, cx: Context, seen: Seen) -> LocalBoxFuture<'static, Result<String, HandlerError>> {
    ask(client, cx, seen).boxed_local()
}

fn both_boxed(client: McpClient, cx: Context, seen: Seen) -> LocalBoxFuture<'static, Result<String, HandlerError>> {
    both(client, cx, seen).boxed_local()
}
