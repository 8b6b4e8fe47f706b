//! Handlers that wait for a timer, for each other, or without end.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn, ready};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use edge_mcp::auth::{PresentedToken, Principal, TokenRefusal};
use edge_mcp::host::Host;
use edge_mcp::testing::{self, Client, Stalled, TestHost, call};
use edge_mcp::{Endpoint, Tool};
use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::join;
use serde_json::json;

use super::serving;

/// Returns an endpoint with the tool `wait`. Each call of the tool waits for a future that `wait` returns.
fn waiting<F: Future<Output = ()> + 'static>(wait: impl Fn() -> F + 'static) -> Endpoint {
    let wait = Rc::new(wait);
    serving(move |server| {
        let wait = wait.clone();
        let handler = move || {
            let waits = wait();
            async move {
                waits.await;
                "done"
            }
        };
        server.tool(Tool::new("wait", "Waits.", handler))
    })
}

#[test]
fn no_wait_takes_real_time() {
    let host = TestHost::new();
    let of = host.clone();
    let endpoint = waiting(move || {
        let (first, second) = (of.sleep(Duration::from_secs(20)), of.clone());
        async move {
            first.await;
            second.sleep(Duration::from_secs(5)).await;
        }
    });
    let answer = block_on(Client::new(&endpoint).host(&host).call("wait", json!({})));
    assert_eq!(answer.text(), "done");
    assert_eq!(host.waits(), [Duration::from_secs(20), Duration::from_secs(5)]);
}

/// Only a run of the host advances its clock. A test that waits for the clock outside of a run fails with a sentence, instead of hanging.
#[test]
#[should_panic(expected = "Write `testing::run(host.run(future))`.")]
fn work_that_waits_outside_of_a_run_of_its_host_fails() {
    let host = TestHost::new();
    let cx = testing::context(&host);
    testing::run(cx.sleep(Duration::from_secs(1)));
}

#[test]
#[should_panic(expected = "Write `testing::run(host.run(future))`.")]
fn a_task_outside_of_a_run_of_its_host_fails() {
    let host = TestHost::new();
    let (sender, receiver) = oneshot::channel();
    testing::context(&host).wait_until(async move { sender.send(()).expect("a receiver") });
    testing::run(receiver).expect("an answer");
}

/// The same work ends within a run of the host, and a test can advance the clock itself.
#[test]
fn work_that_waits_ends_in_a_run_of_its_host() {
    let host = TestHost::new();
    let cx = testing::context(&host);
    let (sender, receiver) = oneshot::channel();
    cx.wait_until(async move { sender.send(()).expect("a receiver") });
    let work = async {
        cx.sleep(Duration::from_secs(1)).await;
        receiver.await.expect("an answer");
    };
    assert_eq!(testing::run(host.run(work)), Ok(()));
    let advancing = join(cx.sleep(Duration::from_secs(1)), async { host.advance(Duration::from_secs(1)) });
    testing::run(advancing);
    // A timer that is dropped before its time is no wait.
    testing::run(futures::future::select(Box::pin(cx.sleep(Duration::from_secs(1))), ready(())));
    testing::run(another_thread());
}

/// Waits for another thread.
async fn another_thread() {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || sender.send(()).expect("a receiver"));
    receiver.await.expect("an answer");
}

/// The deadline ends a handler that never finishes. A wait without a deadline ends with the error `Stalled`.
#[test]
fn no_wait_is_endless() {
    let endpoint = waiting(pending::<()>);
    let answer = block_on(call(&endpoint, "wait", json!({})));
    assert!(answer.is_error() && answer.text().contains("within 30 s"), "{}", answer.text());
    let client = Client::new(&endpoint).meta("progressToken", json!(1));
    assert!(block_on(client.call("wait", json!({}))).text().contains("within 30 s"), "also on a stream");
    let never = |_: PresentedToken<'_>| pending::<Result<Principal, TokenRefusal>>();
    let answer = block_on(Client::new(&endpoint.auth(never)).token("x").call("wait", json!({})));
    assert_eq!((answer.status(), answer.text().to_owned()), (0, Stalled.to_string()));
    let host = TestHost::new();
    let ticks = host.clone();
    let endless = async move {
        loop {
            ticks.sleep(Duration::from_secs(1)).await;
        }
    };
    assert_eq!(block_on(host.run::<()>(endless)), Err(Stalled));
    assert_eq!(host.waits().len(), 600);
}

#[test]
fn background_tasks_run_to_their_end() {
    let host = TestHost::new();
    let done = Rc::new(Cell::new(0));
    let (of, notes) = (host.clone(), done.clone());
    let endpoint = waiting(move || {
        let (host, notes) = (of.clone(), notes.clone());
        async move {
            let later = host.clone();
            host.spawn(Box::pin(async move {
                later.sleep(Duration::from_secs(40)).await;
                let again = notes.clone();
                later.spawn(Box::pin(async move { again.set(again.get() + 1) }));
                notes.set(notes.get() + 1);
            }));
        }
    });
    let answer = block_on(Client::new(&endpoint).host(&host).call("wait", json!({})));
    assert_eq!((answer.text(), done.get()), ("done", 2));
}

/// A background task that cannot end does not delay the answer. The next call on the same host continues the task.
#[test]
fn a_task_that_cannot_end_does_not_delay_the_answer() {
    let host = TestHost::new();
    let (send, receive) = oneshot::channel::<()>();
    let (receive, done) = (RefCell::new(Some(receive)), Rc::new(Cell::new(false)));
    let (of, notes) = (host.clone(), done.clone());
    let endpoint = waiting(move || {
        if let Some(receive) = receive.take() {
            let notes = notes.clone();
            of.spawn(Box::pin(async move { notes.set(receive.await.is_ok()) }));
        }
        async {}
    });
    let client = Client::new(&endpoint).host(&host);
    assert_eq!(block_on(client.call("wait", json!({}))).text(), "done");
    assert!(!done.get());
    send.send(()).expect("the task waits for it");
    assert_eq!(block_on(client.call("wait", json!({}))).text(), "done");
    assert!(done.get());
}

#[test]
fn concurrent_calls_can_wait_for_each_other() {
    let (send, receive) = oneshot::channel::<()>();
    let (send, receive) = (RefCell::new(Some(send)), RefCell::new(Some(receive)));
    let endpoint = waiting(move || {
        let receive = receive.take();
        if receive.is_none() {
            send.take().map(|send| send.send(()));
        }
        async move {
            if let Some(receive) = receive {
                receive.await.expect("the other call sends it");
            }
        }
    });
    for host in [TestHost::new(), TestHost::new()] {
        let client = Client::new(&endpoint).host(&host);
        let (first, second) = block_on(join(client.call("wait", json!({})), client.call("wait", json!({}))));
        assert_eq!((first.text(), second.text()), ("done", "done"));
        assert!(host.waits().is_empty(), "{:?}", host.waits());
    }
}

/// A future may keep the waker of its first poll, and may wake itself.
#[test]
fn any_future_is_woken() {
    let endpoint = waiting(|| {
        let (mut kept, mut polls): (Option<Waker>, _) = (None, 0);
        poll_fn(move |task| {
            let waker = kept.get_or_insert_with(|| task.waker().clone());
            waker.wake_by_ref();
            polls += 1;
            if polls > 100 { Poll::Ready(()) } else { Poll::Pending }
        })
    });
    assert_eq!(testing::run(call(&endpoint, "wait", json!({}))).text(), "done");
}
