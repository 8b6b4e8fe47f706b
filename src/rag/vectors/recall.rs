//! The recall of a search in two stages. The benchmark of retrieval includes this file, and measures larger cases.

use std::collections::BTreeSet;

use crate::rag::order::{descending, ordered};
use crate::rag::vectors::code::{Nearest, code};
use crate::rag::vectors::int8::Int8;

/// The number of results of a search.
const RESULTS: usize = 10;

/// Returns the share of the exact results that a search in two stages finds, over all queries. The first stage selects `most` candidates.
#[allow(clippy::cast_precision_loss)]
pub(in crate::rag) fn recall(rows: &[Vec<f32>], queries: &[Vec<f32>], centre: &[f32], most: usize) -> f64 {
    let codes: String = rows.iter().map(|row| code(row, centre)).collect();
    let rounded: Vec<Int8> = rows.iter().map(|row| Int8::of(row)).collect();
    let ids: Vec<i64> = (0..).take(rows.len()).collect();
    let found = queries.iter().map(|query| {
        let exact = best(&ids, |row| dot(row_of::<Vec<f32>>(rows, row), query));
        let mut nearest = Nearest::new(&code(query, centre), most);
        nearest.page(&codes, &ids).expect("codes of the rows");
        let query = Int8::of(query);
        best(&nearest.ids(), |row| row_of(&rounded, row).cosine(&query)).intersection(&exact).count()
    });
    found.sum::<usize>() as f64 / queries.len().saturating_mul(RESULTS) as f64
}

/// Returns the rows with the greatest scores.
fn best(rows: &[i64], score: impl Fn(i64) -> f64) -> BTreeSet<i64> {
    ordered(rows.to_vec(), |row| [descending(score(*row)), *row, 0]).into_iter().take(RESULTS).collect()
}

fn row_of<T>(rows: &[T], row: i64) -> &T {
    usize::try_from(row).ok().and_then(|row| rows.get(row)).expect("a row")
}

fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(one, other)| f64::from(one * other)).sum()
}

#[cfg(test)]
mod tests {
    use edge_mcp_test_support::vectors::Vectors;

    use super::*;
    use crate::rag::vectors::code::{candidates, mean};

    /// R101: the recall of the first 10 results. Without the centre, a common direction of the vectors takes most of the bits.
    #[test]
    fn two_stages_find_the_nearest_vectors() {
        for common in [false, true] {
            let mut vectors = Vectors::new(101, 128, common);
            let (rows, queries) = (vectors.vectors(3000), vectors.vectors(20));
            let centre = mean(rows.iter().take(64), 128);
            let found = recall(&rows, &queries, &centre, candidates(rows.len()));
            assert!(found >= 0.97, "{found} with a common direction: {common}");
            assert!(
                !common || recall(&rows, &queries, &[], candidates(rows.len())) < found - 0.02,
                "the centre matters"
            );
        }
    }
}
