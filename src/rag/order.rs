//! The order of items by several numbers.

use std::collections::BinaryHeap;

/// Returns the items in the order of their keys, the least key first. Items with equal keys stay in their order.
///
/// Each type that is sorted adds 4 KB of code to a wasm module, so all code for retrieval sorts with this function.
pub(super) fn ordered<T>(items: Vec<T>, key: impl Fn(&T) -> [i64; 3]) -> Vec<T> {
    let positions = positions(items.iter().map(key).collect());
    rearranged(items, positions)
}

/// Returns the items at these positions, in the order of the positions. An item is taken once.
pub(super) fn rearranged<T>(items: Vec<T>, positions: Vec<usize>) -> Vec<T> {
    let mut items: Vec<_> = items.into_iter().map(Some).collect();
    positions.into_iter().filter_map(|position| items.get_mut(position)?.take()).collect()
}

fn positions(keys: Vec<[i64; 3]>) -> Vec<usize> {
    let sorted = keys.into_iter().zip(0..).collect::<BinaryHeap<_>>().into_sorted_vec();
    sorted.into_iter().map(|(_, position)| position).collect()
}

/// Returns a number for a key of [`ordered`]. It is less if `score` is greater.
pub(super) fn descending(score: f64) -> i64 {
    let bits = i64::from_ne_bytes(score.to_ne_bytes());
    // The first bit of a float is its sign. The other bits, read as an integer, are in the order of the absolute values.
    let ascending = if bits < 0 { bits ^ i64::MAX } else { bits };
    !ascending
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_in_the_order_of_their_keys() {
        let items = [("a", [2, 0, 0]), ("b", [1, 5, 0]), ("c", [2, 0, 0]), ("d", [1, 4, 9]), ("e", [1, 4, -9])];
        let names: String = ordered(items.into(), |(_, key)| *key).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, "edbac");
    }

    #[test]
    fn a_greater_score_comes_first() {
        let scores = [f64::INFINITY, 2.5, 1.0, f64::MIN_POSITIVE, 0.0, -0.0, -1.0, -2.5, f64::NEG_INFINITY];
        assert!(scores.map(descending).is_sorted_by(|one, other| one < other));
    }
}
