use std::time::Duration;

use futures::future::{pending, ready};

use super::Rerank;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::rag::stages::SearchStage;
use crate::rag::{FoundPassage, Passage};
use crate::testing::{TestHost, context, run};

/// Returns passages with these similarities, numbered from 0.
fn candidates(similarities: &[Option<f64>]) -> Vec<FoundPassage> {
    let passages = (0..).zip(similarities);
    passages
        .map(|(id, similarity)| FoundPassage {
            similarity: *similarity,
            ..FoundPassage::new(Passage { id, ..Passage::default() }, 0.0)
        })
        .collect()
}

/// Returns settings whose scorer gives these scores.
fn scoring(scores: &[f64]) -> Rerank {
    let scores = scores.to_vec();
    Rerank::by(move |_: String, _: Vec<String>, _: Context| ready(Ok(scores.clone())))
}

fn order(rerank: &Rerank, mut passages: Vec<FoundPassage>) -> Result<Vec<FoundPassage>, HandlerError> {
    let host = TestHost::new();
    let ordered = run(host.run(rerank.order("question", &mut passages, &context(&host)))).expect("it ends");
    ordered.map(|()| passages)
}

/// Returns the order of the candidates, and their scores in hundredths.
fn ranking(rerank: &Rerank, similarities: &[Option<f64>]) -> (Vec<i64>, Vec<f64>) {
    let reranked = order(rerank, candidates(similarities)).expect("an order");
    let hundredths = |score: f64| (score * 100.0).round();
    reranked.iter().map(|passage| (passage.passage.id, hundredths(passage.score))).unzip()
}

/// R78, R79: the score is the weighted mean of the scorer's score, the cosine from 0, and the position.
#[test]
fn scores_are_weighted_means() {
    let cosines = [Some(0.5), Some(-0.5), Some(1.0), Some(0.0)];
    let scores = [0.0, 1.0, 0.5, 0.25];
    // The positions are 1, 0.75, 0.5 and 0.25.
    for (rerank, expected) in [
        (scoring(&scores), (vec![2, 1, 0, 3], vec![70.0, 55.0, 40.0, 15.0])),
        (scoring(&scores).vector(0.0).position(0.0), (vec![1, 2, 3, 0], vec![100.0, 50.0, 25.0, 0.0])),
        (scoring(&scores).semantic(0.0).position(0.0), (vec![2, 0, 1, 3], vec![100.0, 50.0, 0.0, 0.0])),
        (scoring(&scores).semantic(0.0).vector(0.0), (vec![0, 1, 2, 3], vec![100.0, 75.0, 50.0, 25.0])),
        (scoring(&scores).semantic(40.0).vector(40.0).position(20.0), (vec![2, 1, 0, 3], vec![70.0, 55.0, 40.0, 15.0])),
        (
            scoring(&scores).semantic(f64::MAX).vector(f64::MAX).position(0.0),
            (vec![2, 1, 0, 3], vec![75.0, 50.0, 25.0, 13.0]),
        ),
    ] {
        assert_eq!(ranking(&rerank, &cosines), expected);
    }
}

/// R78, R82: without vectors, the score is the mean of the other two parts.
#[test]
fn without_vectors_the_other_weights_count() {
    let expected = (vec![1, 0], vec![83.0, 33.0]);
    assert_eq!(ranking(&scoring(&[0.0, 1.0]), &[None, None]), expected);
    // Only the weight of the missing part is more than 0, so nothing changes.
    let rerank = scoring(&[0.0, 1.0]).semantic(0.0).position(0.0);
    assert_eq!(ranking(&rerank, &[None, None]), (vec![0, 1], vec![100.0, 50.0]));
    // Some candidates have a vector. The others count as not similar.
    let rerank = scoring(&[0.0, 0.0]).semantic(0.0).position(0.0);
    assert_eq!(ranking(&rerank, &[None, Some(0.3)]), (vec![1, 0], vec![30.0, 0.0]));
}

/// R79: if a score is outside 0 to 1, all scores are the logarithms of odds. R81: a passage without a score has 0.
#[test]
fn scores_are_brought_to_0_to_1() {
    for (scores, semantic) in [
        (vec![0.0, 0.5, 1.0], vec![0.0, 50.0, 100.0]),
        (vec![0.0, 2.0, -2.0], vec![50.0, 88.0, 12.0]),
        (vec![0.5, -1000.0, 1000.0], vec![62.0, 0.0, 100.0]),
        (vec![f64::NEG_INFINITY, 0.5, 1.0], vec![0.0, 50.0, 100.0]),
        (vec![f64::NEG_INFINITY, 2.0, 0.0], vec![0.0, 88.0, 50.0]),
        (vec![f64::NEG_INFINITY; 3], vec![0.0, 0.0, 0.0]),
    ] {
        let mut reranked = order(&scoring(&scores), candidates(&[None; 3])).expect("an order");
        reranked.sort_by_key(|passage| passage.passage.id);
        let found: Vec<_> =
            reranked.iter().map(|passage| (passage.rerank.unwrap_or_default() * 100.0).round()).collect();
        assert_eq!(found, semantic, "{scores:?}");
        assert!(reranked.iter().all(|passage| (0.0..=1.0).contains(&passage.score)), "{scores:?}");
    }
}

/// R81, R107: unusable scores, a failure and 10 s without an answer are errors.
#[test]
fn unusable_scores_are_errors() {
    for scores in [&[][..], &[0.5], &[0.5, 0.5, 0.5], &[0.5, f64::NAN], &[f64::INFINITY, 0.5]] {
        let error = order(&scoring(scores), candidates(&[None, None])).expect_err("an error");
        assert!(error.message().starts_with("The reranker gave an answer that cannot be used."), "{error:?}");
    }
    let failing = Rerank::by(|_: String, _: Vec<String>, _: Context| ready(Err(HandlerError::new("No."))));
    assert_eq!(order(&failing, candidates(&[None])).expect_err("an error").message(), "No.");

    let silent = Rerank::by(|_: String, _: Vec<String>, _: Context| pending());
    let host = TestHost::new();
    let mut candidates = candidates(&[None]);
    let late = run(host.run(silent.order("question", &mut candidates, &context(&host)))).expect("it ends");
    assert!(late.expect_err("an error").message().starts_with("The reranker did not answer within 10 s."));
    assert_eq!(host.waits(), [Duration::from_secs(10)]);
}

/// R77: one request has at most 50 passages of at most 1500 bytes. No request is sent without passages.
#[test]
fn passages_are_bounded() {
    let check = Rerank::by(|_: String, passages: Vec<String>, _: Context| {
        assert!(passages.iter().all(|passage| passage.len() == 1499), "a character is not divided");
        ready(Ok(vec![0.5; passages.len()]))
    });
    let long = format!("x{}", "é".repeat(2000));
    let many = vec![FoundPassage::new(Passage { text: long, ..Passage::default() }, 0.0); 60];
    assert_eq!(order(&check, many).expect("an order").len(), 50);

    let unused =
        Rerank::by(|_: String, _: Vec<String>, _: Context| -> futures::future::Ready<_> { panic!("a request") });
    assert_eq!(order(&unused, Vec::new()).expect("an order"), []);
    for (top_k, candidates) in [(0, 30), (10, 30), (11, 33), (17, 50), (usize::MAX, 50)] {
        assert_eq!(Rerank::candidates(top_k), candidates, "{top_k}");
    }
    assert_eq!((unused.kept(10), unused.clone().top_k(3).kept(10)), (10, 3));
}

/// R78: a weight that is negative or not a number, and weights that are all 0, are problems.
#[test]
fn invalid_weights_are_problems() {
    let weights = |semantic, vector, position| {
        scoring(&[]).semantic(semantic).vector(vector).position(position).problem().unwrap_or_default()
    };
    assert_eq!(weights(1.0, 0.0, 0.0), "");
    assert_eq!(weights(0.0, 0.0, 1e-300), "");
    assert_eq!(weights(-0.1, 1.0, 1.0), "the weight `semantic` of `Rerank` must be a number from 0");
    assert_eq!(weights(1.0, f64::NAN, 1.0), "the weight `vector` of `Rerank` must be a number from 0");
    assert_eq!(weights(1.0, 1.0, f64::INFINITY), "the weight `position` of `Rerank` must be a number from 0");
    assert_eq!(weights(0.0, 0.0, -0.0), "a weight of `Rerank` must be more than 0");
}
