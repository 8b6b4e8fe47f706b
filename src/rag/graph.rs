//! The scores of passages by random walks over the edges between them.
//!
//! A walk starts at a seed, a passage that a search found. Each step returns to the seed with a fixed probability, and otherwise follows an
//! edge of the current node, chosen by weight. A node's score is the share of the steps at which the walk is there. This module does not
//! sample walks: it calculates the expectation, so equal calls have equal results.

use std::collections::BTreeMap;

use edge_json::number::text;

use super::order::{descending, ordered};
use super::passage::{Edge, PassageId};
use crate::limits::{RAG_GRAPH_EDGES, RAG_GRAPH_NODES, RAG_GRAPH_STEPS};

/// Nodes are at most this many edges away from a seed.
const HOPS: usize = 2;

/// The settings of random walks: see [`Retriever::graph`](super::Retriever::graph).
///
/// ```
/// use edge_mcp::rag::GraphOptions;
///
/// let options = GraphOptions { threshold: 0.6, ..GraphOptions::default() };
/// assert_eq!(options.problem(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphOptions {
    /// Only edges that are heavier are followed. From 0 to 1.
    pub threshold: f64,
    /// The number of steps of a walk. From 1 to 1000.
    pub random_walk_steps: u32,
    /// The probability that a step returns to the seed. More than 0 and less than 1.
    pub restart_prob: f64,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self { threshold: 0.7, random_walk_steps: 100, restart_prob: 0.15 }
    }
}

impl GraphOptions {
    /// Returns a sentence about the first setting that is out of range, or `None` if all are valid.
    pub fn problem(&self) -> Option<String> {
        let Self { threshold, random_walk_steps, restart_prob } = self;
        if !(0.0..=1.0).contains(threshold) {
            return Some(format!("`threshold` must be from 0 to 1 (got {})", text(*threshold)));
        }
        if !(1..=RAG_GRAPH_STEPS).contains(random_walk_steps) {
            return Some(format!("`random_walk_steps` must be from 1 to {RAG_GRAPH_STEPS} (got {random_walk_steps})"));
        }
        let is_probability = *restart_prob > 0.0 && *restart_prob < 1.0;
        let problem = || format!("`restart_prob` must be more than 0 and less than 1 (got {})", text(*restart_prob));
        (!is_probability).then(problem)
    }
}

/// The settings of walks that a request has. They take precedence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WalkOverrides {
    pub(super) steps: Option<u32>,
    pub(super) restart_prob: Option<f64>,
}

/// The result of [`walk`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Walk {
    /// The nodes with their scores: the highest score first, then the most similar seed, then the lowest id.
    pub(super) scores: Vec<(PassageId, f64)>,
    /// Whether an edge is heavier than the threshold. Without one, the nodes are the seeds, with their similarities as scores.
    pub(super) has_edges: bool,
}

/// Returns the expected scores of walks that start at `seeds`.
///
/// Each seed has a similarity, by which the steps of its walks are weighted. A negative similarity counts as 0. A node without edges keeps
/// the walk.
///
/// The nodes are the seeds and the nodes within two edges of a seed, at most 500: the nearest first, then those with the heaviest edge, then
/// those with the lowest id. Of several edges between two nodes, the heaviest counts. Of each node's edges, the 64 heaviest count.
pub(super) fn walk(seeds: &[(PassageId, f64)], edges: &[Edge], options: &GraphOptions) -> Walk {
    let mut similarities = BTreeMap::new();
    for (id, similarity) in seeds {
        let kept: &mut f64 = similarities.entry(*id).or_default();
        *kept = kept.max(if similarity.is_finite() { *similarity } else { 0.0 });
    }
    let edges = heavy(edges, options.threshold);
    let ids = nodes(&similarities, &edges);
    let seeds: Vec<f64> = ids.iter().map(|id| similarities.get(id).copied().unwrap_or_default()).collect();
    let transitions: Vec<_> = ids.iter().map(|id| transitions(edges_of(&edges, *id), &ids)).collect();
    let scores = expectation(&seeds, &transitions, options);

    let nodes: Vec<_> = ids.into_iter().zip(scores).zip(seeds).collect();
    let best_first = ordered(nodes, |((id, score), seed)| [descending(*score), descending(*seed), *id]);
    Walk { scores: best_first.into_iter().map(|(node, _)| node).collect(), has_edges: !edges.is_empty() }
}

/// Returns the edges that are heavier than `threshold`, one for each pair of nodes, in the order of source and target.
fn heavy(edges: &[Edge], threshold: f64) -> Vec<Edge> {
    let is_heavy = |edge: &&Edge| edge.weight > threshold && edge.weight.is_finite() && edge.source != edge.target;
    let heavy: Vec<_> = edges.iter().filter(is_heavy).copied().collect();
    let mut heavy = ordered(heavy, |edge| [edge.source, edge.target, descending(edge.weight)]);
    heavy.dedup_by_key(|edge| (edge.source, edge.target));
    heavy
}

/// Returns the edges from `source`. `edges` is in the order of the sources.
fn edges_of(edges: &[Edge], source: PassageId) -> &[Edge] {
    let from = edges.partition_point(|edge| edge.source < source);
    let to = edges.partition_point(|edge| edge.source <= source);
    edges.get(from..to).unwrap_or_default()
}

/// Returns the ids of the nodes, in ascending order.
fn nodes(seeds: &BTreeMap<PassageId, f64>, edges: &[Edge]) -> Vec<PassageId> {
    let mut nodes: BTreeMap<PassageId, f64> = BTreeMap::new();
    let mut hop: Vec<(PassageId, f64)> = seeds.iter().map(|(id, similarity)| (*id, *similarity)).collect();
    for _ in 0..=HOPS {
        hop = ordered(hop, |(id, weight)| [descending(*weight), *id, 0]);
        hop.truncate(RAG_GRAPH_NODES.saturating_sub(nodes.len()));
        nodes.extend(hop.iter().copied());
        let mut next: BTreeMap<PassageId, f64> = BTreeMap::new();
        for edge in hop.iter().flat_map(|(id, _)| edges_of(edges, *id)) {
            if !nodes.contains_key(&edge.target) {
                let heaviest = next.entry(edge.target).or_default();
                *heaviest = heaviest.max(edge.weight);
            }
        }
        hop = next.into_iter().collect();
    }
    nodes.into_keys().collect()
}

/// Returns the nodes to which `edges` lead, as positions in `ids`, with their probabilities.
fn transitions(edges: &[Edge], ids: &[PassageId]) -> Vec<(usize, f64)> {
    let position = |edge: &Edge| Some((ids.binary_search(&edge.target).ok()?, edge.weight));
    let targets: Vec<_> = edges.iter().filter_map(position).collect();
    // The edges of a node are in the order of their targets, and `ordered` keeps this order for equal weights.
    let mut targets = ordered(targets, |(_, weight)| [descending(*weight), 0, 0]);
    targets.truncate(RAG_GRAPH_EDGES);
    let sum: f64 = targets.iter().map(|(_, weight)| weight).sum();
    targets.into_iter().map(|(at, weight)| (at, weight / sum)).collect()
}

/// Returns the mean of the distributions before each step. All sums are in the order of the nodes.
fn expectation(seeds: &[f64], transitions: &[Vec<(usize, f64)>], options: &GraphOptions) -> Vec<f64> {
    let restart = options.restart_prob;
    let steps = options.random_walk_steps.clamp(1, RAG_GRAPH_STEPS);
    let (mut now, mut sums) = (seeds.to_vec(), vec![0.0; seeds.len()]);
    for _ in 0..steps {
        let mut moved = vec![0.0; seeds.len()];
        for (at, (mass, targets)) in now.iter().zip(transitions).enumerate() {
            for (target, probability) in targets {
                add(&mut moved, *target, mass * probability);
            }
            if targets.is_empty() {
                add(&mut moved, at, *mass);
            }
        }
        for (sum, mass) in sums.iter_mut().zip(&now) {
            *sum += mass;
        }
        now = seeds.iter().zip(&moved).map(|(seed, mass)| restart * seed + (1.0 - restart) * mass).collect();
    }
    sums.into_iter().map(|sum| sum / f64::from(steps)).collect()
}

fn add(masses: &mut [f64], at: usize, mass: f64) {
    if let Some(sum) = masses.get_mut(at) {
        *sum += mass;
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use std::collections::BTreeSet;

    use edge_mcp_test_support::random::Random;

    use super::*;

    /// Returns the position of a node in a list of all nodes.
    fn position(id: PassageId) -> usize {
        usize::try_from(id).expect("ids are small")
    }

    fn edge(source: PassageId, target: PassageId, weight: f64) -> Edge {
        Edge { source, target, weight }
    }

    fn both(one: PassageId, other: PassageId, weight: f64) -> [Edge; 2] {
        [edge(one, other, weight), edge(other, one, weight)]
    }

    /// Returns a number from 0 to 1.
    #[allow(clippy::cast_precision_loss)]
    fn fraction(random: &mut Random) -> f64 {
        random.below(1 << 30) as f64 / f64::from(1 << 30)
    }

    /// Returns a graph of 24 nodes within two edges of its seeds 0 to 4. Two more seeds have no edges.
    fn graph(random: &mut Random) -> (Vec<(PassageId, f64)>, Vec<Edge>) {
        let mut edges = Vec::new();
        for one in 0..24 {
            for other in 0..one {
                if one < 10 || random.once_in(4) {
                    edges.extend(both(one, other, 0.5 + fraction(random) / 2.0));
                }
            }
        }
        let seeds = [0, 1, 2, 3, 4, 30, 31].map(|id| (id, fraction(random)));
        (seeds.to_vec(), edges)
    }

    /// Walks once from each seed, and adds the visits to `scores`, weighted by the similarity of the seed. `targets` has the edges of each
    /// node.
    fn sample(
        random: &mut Random,
        seeds: &[(PassageId, f64)],
        targets: &[Vec<(PassageId, f64)>],
        options: &GraphOptions,
        scores: &mut [f64],
    ) {
        for (seed, similarity) in seeds {
            let mut at = *seed;
            for _ in 0..options.random_walk_steps {
                scores[position(at)] += similarity / f64::from(options.random_walk_steps);
                if fraction(random) < options.restart_prob {
                    at = *seed;
                    continue;
                }
                let targets = &targets[position(at)];
                let mut left = fraction(random) * targets.iter().map(|(_, weight)| weight).sum::<f64>();
                let target = targets.iter().find(|(_, weight)| {
                    left -= weight;
                    left < 0.0
                });
                at = target.map_or(at, |(target, _)| *target);
            }
        }
    }

    /// R102: the expectation is the mean of sampled walks.
    #[test]
    #[allow(clippy::cast_precision_loss)]
    fn the_expectation_is_the_mean_of_sampled_walks() {
        const RUNS: usize = 5_000;
        let mut random = Random::new(7);
        let (seeds, edges) = graph(&mut random);
        let options = GraphOptions::default();
        let walk = walk(&seeds, &edges, &options);
        assert!(walk.scores.len() >= 20, "{walk:?}");
        // A sampled walk has the same nodes.
        let is_node = |id: PassageId| walk.scores.iter().any(|(node, _)| *node == id);
        let mut targets = vec![Vec::new(); 32];
        for edge in edges.iter().filter(|edge| edge.weight > options.threshold && is_node(edge.target)) {
            targets[position(edge.source)].push((edge.target, edge.weight));
        }

        let (mut sums, mut squares) = ([0.0; 32], [0.0; 32]);
        for _ in 0..RUNS {
            let mut scores = [0.0; 32];
            sample(&mut random, &seeds, &targets, &options, &mut scores);
            for (at, score) in scores.into_iter().enumerate() {
                sums[at] += score;
                squares[at] += score * score;
            }
        }
        for (id, score) in walk.scores {
            let mean = sums[position(id)] / RUNS as f64;
            let variance = (squares[position(id)] / RUNS as f64 - mean * mean).max(0.0);
            let error = (variance / RUNS as f64).sqrt();
            assert!((score - mean).abs() <= 4.0 * error + 1e-9, "{id}: {score}, sampled {mean} ± {error}");
        }
    }

    /// R102: equal calls give equal scores, in any order of the seeds and edges. Walks neither gain nor lose mass.
    #[test]
    fn the_walk_is_deterministic() {
        let mut random = Random::new(1);
        let (mut seeds, mut edges) = graph(&mut random);
        let options = GraphOptions { threshold: 0.55, ..GraphOptions::default() };
        let first = walk(&seeds, &edges, &options);
        let sum = |numbers: &[(PassageId, f64)]| numbers.iter().map(|(_, number)| number).sum::<f64>();
        assert!((sum(&first.scores) - sum(&seeds)).abs() < 1e-9);
        assert!(first.scores.is_sorted_by(|(_, one), (_, other)| one >= other));
        seeds.reverse();
        edges.reverse();
        assert_eq!(walk(&seeds, &edges, &options), first);
    }

    /// R102: an isolated seed keeps its similarity. Above all edges, the result is the seeds.
    #[test]
    fn isolated_seeds_keep_their_mass() {
        let seeds = [(1, 0.25), (2, 0.5), (3, f64::NAN), (4, -1.0), (2, 0.125)];
        let edges = both(1, 5, 0.7);
        let above = walk(&seeds, &edges, &GraphOptions::default());
        assert!(!above.has_edges, "the threshold is strict");
        let rounded = |walk: Walk| -> Vec<_> {
            walk.scores.into_iter().map(|(id, score)| (id, (score * 1e6).round() / 1e6)).collect()
        };
        assert_eq!(rounded(above), [(2, 0.5), (1, 0.25), (3, 0.0), (4, 0.0)]);

        let below = walk(&seeds, &edges, &GraphOptions { threshold: 0.69, ..GraphOptions::default() });
        assert!(below.has_edges);
        let scores = rounded(below);
        assert_eq!(scores[0], (2, 0.5));
        assert!(scores.iter().any(|(id, score)| *id == 5 && *score > 0.05), "{scores:?}");
        assert_eq!(walk(&[], &edges, &GraphOptions::default()).scores, []);
    }

    /// With two steps, the scores can be calculated by hand.
    #[test]
    fn the_first_steps() {
        let options = GraphOptions { threshold: 0.0, random_walk_steps: 2, restart_prob: 0.5 };
        let edges = [
            edge(1, 2, 0.25),
            edge(1, 3, 0.75),
            edge(1, 3, 0.5),
            edge(1, 1, 0.9),
            edge(2, 3, f64::NAN),
            edge(2, 1, f64::INFINITY),
        ];
        let Walk { scores, .. } = walk(&[(1, 0.8)], &edges, &options);
        // After one step: 0.4 at the seed, and half of 0.8 by weight at its neighbours.
        assert_eq!(scores, [(1, f64::midpoint(0.8, 0.4)), (3, 0.4 * 0.75 / 2.0), (2, 0.4 * 0.25 / 2.0)]);
    }

    /// R84: the nodes are within two edges, at most 500, the nearest and heaviest first.
    #[test]
    fn nodes_are_limited() {
        let chain = [both(1, 2, 0.9), both(2, 3, 0.9), both(3, 4, 0.9)].concat();
        let ids = |walk: Walk| walk.scores.into_iter().map(|(id, _)| id).collect::<BTreeSet<_>>();
        assert_eq!(ids(walk(&[(1, 1.0)], &chain, &GraphOptions::default())), [1, 2, 3].into());

        // 40 seeds have 20 neighbours each. The edges of higher seeds are heavier.
        let edges: Vec<_> = (0..800_u32)
            .flat_map(|leaf| both((leaf / 20).into(), (1000 + leaf).into(), 0.8 + f64::from(leaf / 20) / 1000.0))
            .collect();
        let seeds: Vec<_> = (0..40).map(|id| (id, 0.5)).collect();
        let found = ids(walk(&seeds, &edges, &GraphOptions::default()));
        assert_eq!(found.len(), RAG_GRAPH_NODES);
        assert!(found.iter().all(|id| *id < 40 || *id >= 1000 + 800 - 460), "the lightest edges are left out");
        let seeds: Vec<_> = (0..600_u32).map(|id| (id.into(), f64::from(id))).collect();
        assert!(ids(walk(&seeds, &edges, &GraphOptions::default())).iter().all(|id| (100..600).contains(id)));

        // Of 100 edges, the heaviest are followed.
        let star: Vec<_> = (1..=100_u32).map(|id| edge(0, id.into(), 0.8 + f64::from(id) / 1000.0)).collect();
        let Walk { scores, .. } = walk(&[(0, 1.0)], &star, &GraphOptions::default());
        let visited: Vec<_> = scores.iter().filter(|(_, score)| *score > 0.0).collect();
        assert_eq!(visited.len(), 1 + RAG_GRAPH_EDGES);
        assert!(visited.iter().all(|(id, _)| *id == 0 || *id > 36));
    }

    /// R83: the ranges of the settings.
    #[test]
    fn settings_are_checked() {
        let options = GraphOptions::default();
        for (options, problem) in [
            (options, None),
            (GraphOptions { threshold: 0.0, random_walk_steps: 1, restart_prob: 0.01 }, None),
            (GraphOptions { threshold: 1.0, random_walk_steps: 1000, restart_prob: 0.99 }, None),
            (GraphOptions { threshold: 1.5, ..options }, Some("`threshold` must be from 0 to 1 (got 1.5)")),
            (GraphOptions { threshold: -0.1, ..options }, Some("`threshold` must be from 0 to 1 (got -0.1)")),
            (GraphOptions { threshold: f64::NAN, ..options }, Some("`threshold` must be from 0 to 1 (got NaN)")),
            (
                GraphOptions { random_walk_steps: 0, ..options },
                Some("`random_walk_steps` must be from 1 to 1000 (got 0)"),
            ),
            (
                GraphOptions { random_walk_steps: 1001, ..options },
                Some("`random_walk_steps` must be from 1 to 1000 (got 1001)"),
            ),
            (
                GraphOptions { restart_prob: 0.0, ..options },
                Some("`restart_prob` must be more than 0 and less than 1 (got 0.0)"),
            ),
            (
                GraphOptions { restart_prob: 1.0, ..options },
                Some("`restart_prob` must be more than 0 and less than 1 (got 1.0)"),
            ),
        ] {
            assert_eq!(options.problem().as_deref(), problem);
        }
    }
}
