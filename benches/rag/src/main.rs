//! Prints the recall and the speed of a search by vectors on this machine. `scripts/bench rag` runs the same in WebAssembly.

use std::hint::black_box;
use std::time::Instant;

use rag_bench::{Search, recall_of};

/// The number of repetitions. The fastest one counts.
const TIMES: usize = 20;

fn fastest<T>(work: impl Fn() -> T) -> f64 {
    let milliseconds = (0..TIMES).map(|_| {
        let begun = Instant::now();
        black_box(work());
        begun.elapsed().as_secs_f64() * 1000.0
    });
    milliseconds.fold(f64::INFINITY, f64::min)
}

fn main() {
    println!("| rows | dimensions | common direction | recall@10 | goal |\n|--:|--:|---|--:|--:|");
    for rows in [10_000, 40_000] {
        for common in [false, true] {
            let recall = recall_of(rows, 768, common, 50, 1024, 0);
            println!("| {rows} | 768 | {common} | {recall:.3} | 0.97 |");
        }
    }
    println!(
        "\n| rows | dimensions | bytes | scan, ms | read, ms | scan/read | candidates, ms |\n|--:|--:|--:|--:|--:|--:|--:|"
    );
    for dimensions in [384, 768, 1024] {
        for rows in [1000, 10_000, 50_000] {
            let search = Search::new(rows, dimensions);
            let (scan, read) = (fastest(|| search.scan()), fastest(|| search.read()));
            let (compare, bytes) = (fastest(|| search.compare()), search.bytes());
            println!("| {rows} | {dimensions} | {bytes} | {scan:.3} | {read:.3} | {:.1} | {compare:.2} |", scan / read);
        }
    }
}
