use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, pending, ready};

use super::checked::embed;
use super::{Embedder, Purpose};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::testing::{TestHost, context, run};

type Vectors = Result<Vec<Vec<f32>>, HandlerError>;

/// An embedder that gives prepared answers, and then the length of each text.
#[derive(Default)]
struct Scripted {
    answers: RefCell<VecDeque<Vec<Vec<f32>>>>,
    batches: Rc<RefCell<Vec<Vec<String>>>>,
    is_silent: bool,
    fails: bool,
    running: Rc<Cell<bool>>,
}

impl Embedder for Scripted {
    fn model(&self) -> String {
        "scripted".into()
    }

    fn embed(&self, texts: Vec<String>, _: Purpose, _: &Context) -> LocalBoxFuture<'static, Vectors> {
        let vectors = texts.iter().map(|text| vec![f32::from(u16::try_from(text.len()).unwrap_or(1)), 1.0]).collect();
        let vectors = self.answers.borrow_mut().pop_front().unwrap_or(vectors);
        self.batches.borrow_mut().push(texts);
        if self.is_silent {
            return pending().boxed_local();
        }
        if self.fails {
            return ready(Err(HandlerError::new("No."))).boxed_local();
        }
        assert!(!self.running.replace(true), "one request at a time");
        let running = self.running.clone();
        async move {
            running.set(false);
            Ok(vectors)
        }
        .boxed_local()
    }
}

fn scripted(answers: &[&[&[f32]]]) -> Scripted {
    let answers = answers.iter().map(|vectors| vectors.iter().map(|vector| vector.to_vec()).collect()).collect();
    Scripted { answers: RefCell::new(answers), ..Scripted::default() }
}

fn vectors(embedder: &Scripted, texts: &[String], purpose: Purpose) -> Vectors {
    let host = TestHost::new();
    run(host.run(embed(embedder, texts, purpose, &context(&host)))).expect("it ends")
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// R47: equal texts are sent once, and each of them gets the vector.
#[test]
fn equal_texts_are_sent_once() {
    let embedder = scripted(&[&[&[1.0, 0.0], &[0.0, 1.0]]]);
    let found = vectors(&embedder, &texts(&["a", "b", "a", "a"]), Purpose::Passage).expect("vectors");
    let (a, b) = (vec![1.0, 0.0], vec![0.0, 1.0]);
    assert_eq!(found, [a.clone(), b, a.clone(), a]);
    assert_eq!(*embedder.batches.borrow(), [texts(&["a", "b"])]);

    let embedder = scripted(&[]);
    assert_eq!(vectors(&embedder, &[], Purpose::Passage).expect("no vectors"), Vec::<Vec<f32>>::new());
    assert!(embedder.batches.borrow().is_empty());
}

/// R47: a request has at most 100 texts, and at most 100 000 bytes. A longer text is sent alone.
#[test]
fn texts_are_sent_in_batches() {
    for (lengths, batches) in [
        ((1..=250).collect(), vec![100, 100, 50]),
        (vec![40_000, 59_999, 2, 99_998], vec![2, 2]),
        (vec![40_000, 60_000, 1], vec![2, 1]),
        (vec![150_000, 5, 160_000, 6], vec![1, 1, 1, 1]),
    ] {
        let embedder = scripted(&[]);
        let texts: Vec<_> = lengths.iter().map(|length| "x".repeat(*length)).collect();
        let found = vectors(&embedder, &texts, Purpose::Passage).expect("vectors");
        assert_eq!(found.len(), texts.len());
        let sent = embedder.batches.borrow();
        assert_eq!(sent.iter().map(Vec::len).collect::<Vec<_>>(), batches);
        assert_eq!(sent.concat(), texts);
    }
}

/// R48: vectors are scaled to length 1, also if the squares of their numbers are out of the range of `f32`.
#[test]
fn vectors_have_the_length_1() {
    for (vector, scaled) in [
        ([3.0, -4.0], [0.6, -0.8]),
        ([1.0, 0.0], [1.0, 0.0]),
        ([3e38, 3e38], [0.707_106_77, 0.707_106_77]),
        ([3e-40, 4e-40], [0.6, 0.8]),
        ([-f32::MAX, 0.0], [-1.0, 0.0]),
    ] {
        let found = vectors(&scripted(&[&[&vector]]), &texts(&["a"]), Purpose::Query).expect("vectors");
        assert!((found[0][0] - scaled[0]).abs() < 1e-6 && (found[0][1] - scaled[1]).abs() < 1e-6, "{found:?}");
    }
}

/// R48, R107: unusable vectors are requested once more. Two unusable answers are an error.
#[test]
fn unusable_vectors_are_requested_once_more() {
    let good: &[&[f32]] = &[&[1.0, 0.0], &[0.0, 1.0]];
    let bad: [&[&[f32]]; 9] = [
        &[],
        &[&[1.0, 0.0]],
        &[&[1.0, 0.0], &[0.0, 1.0], &[1.0, 1.0]],
        &[&[1.0, 0.0], &[1.0]],
        &[&[], &[]],
        &[&[1.0, 0.0], &[0.0, -0.0]],
        &[&[1.0, 0.0], &[f32::NAN, 1.0]],
        &[&[f32::INFINITY, 0.0], &[0.0, 1.0]],
        &[&[1.0, 0.0], &[0.0, f32::NEG_INFINITY]],
    ];
    for bad in bad {
        let embedder = scripted(&[bad, good]);
        assert_eq!(vectors(&embedder, &texts(&["a", "b"]), Purpose::Query).expect("vectors"), good, "{bad:?}");
        let embedder = scripted(&[bad, bad, good]);
        let error = vectors(&embedder, &texts(&["a", "b"]), Purpose::Query).expect_err("an error");
        assert!(error.message().starts_with("The embedding model gave an answer that cannot be used."), "{error:?}");
        assert_eq!(embedder.batches.borrow().len(), 2);
    }
    // The vectors of all batches have the same length.
    let many: Vec<_> = (1..=101).map(|length| "x".repeat(length)).collect();
    let batch: Vec<&[f32]> = vec![&[1.0, 0.0, 0.0]; 100];
    let error = vectors(&scripted(&[&batch]), &many, Purpose::Passage).expect_err("an error");
    assert!(error.0.cause.is_some_and(|cause| cause.contains("the same length")));
}

/// R49: an embedder that never answers is dropped after 10 s for a query, and after 60 s for a batch of passages. An error is not retried.
#[test]
fn an_embedder_has_a_deadline() {
    for (purpose, seconds) in [(Purpose::Query, 10), (Purpose::Passage, 60)] {
        let host = TestHost::new();
        let embedder = Scripted { is_silent: true, ..Scripted::default() };
        let found = run(host.run(embed(&embedder, &texts(&["a"]), purpose, &context(&host)))).expect("it ends");
        let error = found.expect_err("an error");
        assert!(error.message().starts_with(&format!("The embedding model did not answer within {seconds} s.")));
        assert_eq!(host.waits(), [Duration::from_secs(seconds)]);
    }
    let embedder = Scripted { fails: true, ..Scripted::default() };
    assert_eq!(vectors(&embedder, &texts(&["a"]), Purpose::Query).expect_err("an error").message(), "No.");
    assert_eq!(embedder.batches.borrow().len(), 1);
}
