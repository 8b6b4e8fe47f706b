//! A wait without any effect.

use std::future::poll_fn;
use std::task::Poll;

/// Lets the other branches of a handler run.
pub async fn turn() {
    let mut is_over = false;
    poll_fn(|task| {
        task.waker().wake_by_ref();
        if std::mem::replace(&mut is_over, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
