//! Futures that run at the same time.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use futures::future::{LocalBoxFuture, MaybeDone, maybe_done};

/// Runs futures at the same time, at most `limit` of them, and returns their outputs in the order of the futures.
///
/// The functions of `futures` that do this are written for thousands of futures, so they need more code.
pub(crate) async fn parallel<'a, T: 'a>(futures: impl Iterator<Item = LocalBoxFuture<'a, T>>, limit: usize) -> Vec<T> {
    run(futures.map(maybe_done).collect(), limit, |_| false).await
}

/// Runs futures at the same time, and returns their outputs in the order of the futures.
///
/// # Errors
/// The error of a future. The other futures then end.
pub(crate) async fn try_parallel<'a, T: 'a, E: 'a>(
    futures: impl Iterator<Item = LocalBoxFuture<'a, Result<T, E>>>,
) -> Result<Vec<T>, E> {
    run(futures.map(maybe_done).collect(), usize::MAX, Result::is_err).await.into_iter().collect()
}

/// Runs futures until all have ended, or until one has an output that `ends` the others. Returns the outputs so far.
async fn run<T>(mut futures: Vec<MaybeDone<LocalBoxFuture<'_, T>>>, limit: usize, ends: impl Fn(&T) -> bool) -> Vec<T> {
    poll_fn(|cx| {
        let mut pending = 0;
        for future in &mut futures {
            if pending < limit && Pin::new(&mut *future).poll(cx).is_pending() {
                pending = usize::saturating_add(pending, 1);
            }
            if Pin::new(future).output_mut().is_some_and(|output| ends(output)) {
                return Poll::Ready(());
            }
        }
        if pending == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    futures.iter_mut().filter_map(|future| Pin::new(future).take_output()).collect()
}

/// Waits until all other parts of the same task were polled once.
pub(crate) async fn turn() {
    let mut is_over = false;
    poll_fn(|task| {
        if is_over {
            return Poll::Ready(());
        }
        is_over = true;
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use std::cell::Cell;

    use futures::FutureExt;
    use futures::executor::block_on;

    use super::*;

    /// Runs six futures that each wait for two further polls. Returns the outputs and the largest number of futures that ran at once.
    fn six(limit: usize) -> (Vec<usize>, usize) {
        let (running, most) = (Cell::new(0_usize), Cell::new(0_usize));
        let future = |nth: usize| {
            let (running, most) = (&running, &most);
            async move {
                running.set(running.get() + 1);
                most.set(most.get().max(running.get()));
                let mut left = 6 - nth;
                poll_fn(|cx| {
                    if left == 0 {
                        return Poll::Ready(());
                    }
                    left -= 1;
                    cx.waker().wake_by_ref();
                    Poll::Pending
                })
                .await;
                running.set(running.get() - 1);
                nth
            }
            .boxed_local()
        };
        (block_on(parallel((0..6).map(future), limit)), most.get())
    }

    #[test]
    fn the_outputs_have_the_order_of_the_futures() {
        assert_eq!(six(usize::MAX), (vec![0, 1, 2, 3, 4, 5], 6));
    }

    #[test]
    fn at_most_the_permitted_number_of_futures_runs_at_once() {
        assert_eq!(six(2), (vec![0, 1, 2, 3, 4, 5], 2));
    }

    #[test]
    fn an_error_ends_the_other_futures() {
        let futures = [std::future::pending().boxed_local(), std::future::ready(Err::<(), _>("wrong")).boxed_local()];
        assert_eq!(block_on(try_parallel(futures.into_iter())), Err("wrong"));
    }

    #[test]
    fn no_futures_have_no_outputs() {
        assert_eq!(block_on(parallel(std::iter::empty::<LocalBoxFuture<'_, ()>>(), 1)), vec![]);
    }
}
