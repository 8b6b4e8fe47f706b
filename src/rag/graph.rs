//! The connections of passages with the best ones of a search, by random walks over the edges between passages.
//!
//! A walk starts at a seed, one of the best passages. Each step returns to the seed with a fixed probability, and otherwise follows an edge of
//! the current node, chosen by weight. A node without edges returns the walk to the seed: either it has none, or they were not read. The
//! share of a node is the share of the steps at which the walk is there. This module does not sample walks: it calculates the
//! expectation, so equal calls have equal results.

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
/// let options = GraphOptions { threshold: 0.8, ..GraphOptions::default() };
/// assert_eq!(options.problem(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphOptions {
    /// Only edges that are heavier are followed. From 0 to 1. The weight of a link is 0.9, and that of similar passages is the cosine of
    /// their vectors.
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

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Walk {
    /// The nodes that walks visit, with the sum of their shares: the greatest sum first, then the lowest id.
    pub(super) shares: Vec<(PassageId, f64)>,
    /// Whether an edge is heavier than the threshold.
    pub(super) has_edges: bool,
}

/// Returns the sum of the shares of walks that start at `seeds`. The share of a walk counts as often as the similarity of its seed says. A
/// walk has no share for its own seed, because a seed is not connected with the best passages by being one of them.
///
/// A negative similarity counts as 0. The nodes are the seeds and the nodes within two edges of a seed, at most 500: the nearest first, then
/// those with the heaviest edge, then those with the lowest id. Of several edges between two nodes, the heaviest counts. Of each node's
/// edges, the 64 heaviest count.
pub(super) fn walk(seeds: &[(PassageId, f64)], edges: &[Edge], options: &GraphOptions) -> Walk {
    let mut similarities = BTreeMap::new();
    for (id, similarity) in seeds {
        let kept: &mut f64 = similarities.entry(*id).or_default();
        *kept = kept.max(if similarity.is_finite() { *similarity } else { 0.0 });
    }
    let edges = heavy(edges, options.threshold);
    let ids = nodes(&similarities, &edges);
    let transitions: Vec<_> = ids.iter().map(|id| transitions(edges_of(&edges, *id), &ids)).collect();
    let mut shares = vec![0.0; ids.len()];
    for (seed, similarity) in similarities {
        let Ok(seed) = ids.binary_search(&seed) else { continue };
        let of_walk = expectation(seed, &transitions, options);
        for (node, (sum, share)) in shares.iter_mut().zip(of_walk).enumerate() {
            if node != seed {
                *sum += similarity * share;
            }
        }
    }
    let visited = ids.into_iter().zip(shares).filter(|(_, share)| *share > 0.0).collect();
    Walk { shares: ordered(visited, |(id, share)| [descending(*share), *id, 0]), has_edges: !edges.is_empty() }
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

/// Returns the share of each node in a walk from the node `seed`: the mean of the distributions before each step.
fn expectation(seed: usize, transitions: &[Vec<(usize, f64)>], options: &GraphOptions) -> Vec<f64> {
    let restart = options.restart_prob;
    let steps = options.random_walk_steps.clamp(1, RAG_GRAPH_STEPS);
    let mut now = vec![0.0; transitions.len()];
    add(&mut now, seed, 1.0);
    let mut sums = vec![0.0; transitions.len()];
    for _ in 0..steps {
        let mut next = vec![0.0; transitions.len()];
        add(&mut next, seed, restart);
        for (mass, targets) in now.iter().zip(transitions) {
            let moved = (1.0 - restart) * mass;
            for (target, probability) in targets {
                add(&mut next, *target, moved * probability);
            }
            if targets.is_empty() {
                add(&mut next, seed, moved);
            }
        }
        for (sum, mass) in sums.iter_mut().zip(&now) {
            *sum += mass;
        }
        now = next;
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

    /// Returns a graph of 24 nodes, and seeds, of which the last has no edges. The nodes from 20 on have no edges of their own.
    fn graph(random: &mut Random) -> (Vec<(PassageId, f64)>, Vec<Edge>) {
        let mut edges = Vec::new();
        for one in 0..24 {
            for other in 0..one {
                let weight = 0.5 + fraction(random) / 2.0;
                if one >= 20 {
                    edges.push(edge(other, one, weight));
                } else if one < 10 || random.once_in(4) {
                    edges.extend(both(one, other, weight));
                }
            }
        }
        ([0, 1, 2, 30].map(|id| (id, fraction(random))).to_vec(), edges)
    }

    /// Walks once from each seed, and adds the visits of other nodes to `shares`, weighted by the similarity of the seed. `targets` has the
    /// edges of each node.
    fn sample(
        random: &mut Random,
        seeds: &[(PassageId, f64)],
        targets: &[Vec<(PassageId, f64)>],
        options: &GraphOptions,
        shares: &mut [f64],
    ) {
        for (seed, similarity) in seeds {
            let mut at = *seed;
            for _ in 0..options.random_walk_steps {
                if at != *seed {
                    shares[position(at)] += similarity / f64::from(options.random_walk_steps);
                }
                let targets = &targets[position(at)];
                if targets.is_empty() || fraction(random) < options.restart_prob {
                    at = *seed;
                    continue;
                }
                let mut left = fraction(random) * targets.iter().map(|(_, weight)| weight).sum::<f64>();
                let target = targets.iter().find(|(_, weight)| {
                    left -= weight;
                    left < 0.0
                });
                at = target.map_or(at, |(target, _)| *target);
            }
        }
    }

    /// R102: the expectation is the mean of 20 000 sampled walks from each seed.
    #[test]
    #[allow(clippy::cast_precision_loss)]
    fn the_expectation_is_the_mean_of_sampled_walks() {
        const RUNS: usize = 20_000;
        let mut random = Random::new(7);
        let (seeds, edges) = graph(&mut random);
        let options = GraphOptions { threshold: 0.6, random_walk_steps: 20, ..GraphOptions::default() };
        let walk = walk(&seeds, &edges, &options);
        assert!(walk.shares.len() >= 20, "{walk:?}");
        let mut targets = vec![Vec::new(); 32];
        for edge in edges.iter().filter(|edge| edge.weight > options.threshold) {
            targets[position(edge.source)].push((edge.target, edge.weight));
        }

        let (mut sums, mut squares) = ([0.0; 32], [0.0; 32]);
        for _ in 0..RUNS {
            let mut shares = [0.0; 32];
            sample(&mut random, &seeds, &targets, &options, &mut shares);
            for (at, share) in shares.into_iter().enumerate() {
                sums[at] += share;
                squares[at] += share * share;
            }
        }
        for (id, share) in walk.shares {
            let mean = sums[position(id)] / RUNS as f64;
            let variance = (squares[position(id)] / RUNS as f64 - mean * mean).max(0.0);
            let error = (variance / RUNS as f64).sqrt();
            assert!((share - mean).abs() <= 4.0 * error + 1e-9, "{id}: {share}, sampled {mean} ± {error}");
        }
    }

    /// R102: equal calls give equal shares, in any order of the seeds and edges. Walks neither gain nor lose mass.
    #[test]
    fn the_walk_is_deterministic() {
        let mut random = Random::new(1);
        let (mut seeds, mut edges) = graph(&mut random);
        let options = GraphOptions { threshold: 0.55, ..GraphOptions::default() };
        let first = walk(&seeds, &edges, &options);
        assert!(first.shares.is_sorted_by(|(_, one), (_, other)| one >= other));
        seeds.reverse();
        edges.reverse();
        assert_eq!(walk(&seeds, &edges, &options), first);

        let transitions = [vec![(1, 0.5), (2, 0.5)], vec![(0, 1.0)], vec![]];
        let sum: f64 = expectation(0, &transitions, &options).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }

    /// R102: an isolated seed has no share. Above all edges, nothing is connected.
    #[test]
    fn isolated_seeds_have_no_share() {
        let seeds = [(1, 0.25), (2, 0.5), (3, f64::NAN), (4, -1.0), (2, 0.125)];
        let edges = both(1, 5, 0.7);
        let above = walk(&seeds, &edges, &GraphOptions::default());
        assert_eq!(above, Walk { shares: Vec::new(), has_edges: false }, "the threshold is strict");

        let below = walk(&seeds, &edges, &GraphOptions { threshold: 0.69, ..GraphOptions::default() });
        assert!(below.has_edges);
        assert!(matches!(below.shares[..], [(5, share)] if share > 0.05 && share < 0.25), "{below:?}");
        assert_eq!(walk(&[], &edges, &GraphOptions::default()).shares, []);
    }

    /// A node whose edges were not read, which is two edges away from a seed, does not keep the walk.
    #[test]
    fn a_node_without_edges_returns_the_walk() {
        let edges = [&both(1, 2, 0.9)[..], &[edge(2, 3, 0.9)]].concat();
        let Walk { shares, .. } = walk(&[(1, 1.0)], &edges, &GraphOptions::default());
        let share = |id| shares.iter().find(|(other, _)| *other == id).map_or(0.0, |(_, share)| *share);
        assert!(share(3) > 0.0 && share(3) < share(2) / 2.0, "{shares:?}");
    }

    /// With three steps, the shares can be calculated by hand.
    #[test]
    fn the_first_steps() {
        let options = GraphOptions { threshold: 0.0, random_walk_steps: 3, restart_prob: 0.5 };
        let edges = [
            edge(1, 2, 0.25),
            edge(1, 3, 0.75),
            edge(1, 3, 0.5),
            edge(1, 1, 0.9),
            edge(2, 1, 0.5),
            edge(2, 3, f64::NAN),
            edge(3, 1, f64::INFINITY),
        ];
        let Walk { shares, .. } = walk(&[(1, 0.8)], &edges, &options);
        // After one step, half of the walks are at 2 and 3, by weight. After two steps, these have returned: 3 has no edges. Half of the others
        // are at 2 and 3.
        let at = |weight: f64| 0.8 * (0.5 * weight + 0.5 * 0.5 * weight) / 3.0;
        assert_eq!(shares.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [3, 2]);
        assert!((shares[0].1 - at(0.75)).abs() < 1e-9 && (shares[1].1 - at(0.25)).abs() < 1e-9, "{shares:?}");
        // A walk from another seed has a share for this one.
        let Walk { shares, .. } = walk(&[(1, 0.8), (2, 0.4)], &edges, &options);
        assert!(shares.iter().any(|(id, share)| *id == 1 && *share > 0.0), "{shares:?}");
    }

    /// R84: the nodes are within two edges, at most 500, the nearest and heaviest first.
    #[test]
    fn nodes_are_limited() {
        let chain = [both(1, 2, 0.9), both(2, 3, 0.9), both(3, 4, 0.9)].concat();
        let ids = |walk: Walk| walk.shares.into_iter().map(|(id, _)| id).collect::<BTreeSet<_>>();
        assert_eq!(ids(walk(&[(1, 1.0)], &chain, &GraphOptions::default())), [2, 3].into());

        // 40 seeds have 20 neighbours each. The edges of higher seeds are heavier.
        let edges: Vec<_> = (0..800_u32)
            .flat_map(|leaf| both((leaf / 20).into(), (1000 + leaf).into(), 0.8 + f64::from(leaf / 20) / 1000.0))
            .collect();
        let seeds: Vec<_> = (0..40).map(|id| (id, 0.5)).collect();
        // Only the leaves are connected with a seed other than themselves.
        let found = ids(walk(&seeds, &edges, &GraphOptions::default()));
        assert_eq!(found.len(), RAG_GRAPH_NODES - seeds.len());
        assert!(found.iter().all(|id| *id >= 1000 + 800 - 460), "the lightest edges are left out");
        // Of more seeds, the most similar are nodes.
        let seeds: Vec<_> = (0..600_u32).map(|id| (id.into(), f64::from(id))).collect();
        let pairs: Vec<_> = (0..300_u32).flat_map(|id| both((2 * id).into(), (2 * id + 1).into(), 0.9)).collect();
        let found = ids(walk(&seeds, &pairs, &GraphOptions::default()));
        assert_eq!(found, (100..600).collect());

        // Of 100 edges, the heaviest are followed.
        let star: Vec<_> = (1..=100_u32).map(|id| edge(0, id.into(), 0.8 + f64::from(id) / 1000.0)).collect();
        let visited = ids(walk(&[(0, 1.0)], &star, &GraphOptions::default()));
        assert_eq!(visited, (37..=100).collect());
        assert_eq!(visited.len(), RAG_GRAPH_EDGES);
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
