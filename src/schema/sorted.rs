//! A sort with little code.

use std::collections::BinaryHeap;

/// Sorts items, equal ones included.
///
/// A heap takes a tenth of the code of `sort_unstable`, and more time: use it where little is sorted, or when a schema is compiled.
pub(super) fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().collect::<BinaryHeap<_>>().into_sorted_vec()
}
