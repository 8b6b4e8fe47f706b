//! Calls that save, delete and search at the same time, and the centre of the vectors.

use std::collections::BTreeMap;
use std::rc::Rc;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use edge_mcp::rag::{PassageId, Retriever, SaveStore, Search, Space, SqliteVectors, StoreFailure, VectorStore};
use edge_mcp::storage::Database;
use edge_mcp::testing::{self, TestHost};
use edge_mcp_test_support::random::Random;

use crate::database::{self, Observed};
use crate::embedder::{DIMENSIONS, Synonyms};
use crate::{InSpace, document, save, space, tables};

const MODEL: &str = "synonyms-0";

/// Returns a vector of length 1. All vectors have a common direction.
fn random_vector(random: &mut Random) -> Vec<f32> {
    let vector: Vec<f32> =
        (0..DIMENSIONS).map(|_| f32::from(random.byte()) / 255.0 + if random.once_in(9) { 2.0 } else { 0.2 }).collect();
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.into_iter().map(|value| value / length).collect()
}

async fn save_numbered(store: &SqliteVectors, space: &Space, from: usize, count: usize) {
    let documents: Vec<_> =
        (from..from + count).map(|nth| document(&format!("d{nth}"), &format!("lemon {nth}"))).collect();
    store.passages().save_all(space, &documents).await.expect("saved");
}

/// Saves random vectors for at most `most` passages without one.
async fn embed(store: &SqliteVectors, space: &Space, most: usize, random: &mut Random) {
    let pending = store.pending(space, MODEL, most).await.expect("pending").passages;
    let vectors = pending.iter().map(|passage| (passage.id, random_vector(random))).collect();
    store.save_vectors(space, MODEL, vectors).await.expect("saved");
}

/// Returns the number of saved vectors and the generation of an index.
async fn model(database: &Database) -> (usize, usize) {
    let model = database.query("SELECT saved, generation FROM rag_models WHERE index_name = 'docs'").first().await;
    model.expect("a model").unwrap_or_default()
}

fn bytes(text: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(text).expect("base64")
}

/// R32, R34, R35: the code of each vector is relative to the centre that is stored.
async fn check_codes(database: &Database) {
    let centre: String =
        database.query("SELECT centre FROM rag_models").first().await.expect("a row").expect("a model");
    let centre = bytes(&centre);
    let centre: Vec<f32> =
        centre.chunks(4).map(|four| f32::from_le_bytes(four.try_into().expect("four bytes"))).collect();
    let centre = if centre.is_empty() { vec![0.0; DIMENSIONS] } else { centre };
    assert_eq!(centre.len(), DIMENSIONS);
    let rows = database.query("SELECT vector.id, vector.vector, code.code FROM rag_vectors AS vector JOIN rag_codes AS code ON code.id = vector.id");
    let rows: Vec<(PassageId, String, String)> = rows.all().await.expect("rows");
    for (id, vector, code) in rows {
        let vector: Vec<f32> = bytes(&vector).into_iter().map(|byte| f32::from(byte.cast_signed())).collect();
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        for (nth, (value, centre)) in vector.iter().zip(&centre).enumerate() {
            let is_above = code.as_bytes()[nth / 5] & (16 >> (nth % 5)) != 0;
            let difference = value / length - centre;
            // A code comes from the vector before it was rounded to 8 bits.
            assert!(difference.abs() < 0.01 || (difference > 0.0) == is_above, "{id}, {nth}: {difference}");
        }
    }
}

/// R34, R35: the centre is calculated after 64 and after 1024 vectors of all spaces of the index, and all codes change with it.
#[test]
fn the_centre_is_calculated_twice() {
    let (test, mut random) = (database::empty(), Random::new(34));
    let (store, database) = (database::store_in(&test), test.database());
    let other = Space { name: "x".into(), ..space() };
    testing::run(async {
        save_numbered(&store, &space(), 0, 1000).await;
        save_numbered(&store, &other, 0, 40).await;
        embed(&store, &other, 33, &mut random).await;
        assert_eq!(model(&database).await, (33, 0));
        check_codes(&database).await;
        embed(&store, &space(), 30, &mut random).await;
        assert_eq!(model(&database).await, (63, 0));
        embed(&store, &space(), 1, &mut random).await;
        assert_eq!(model(&database).await, (64, 1));
        check_codes(&database).await;
        embed(&store, &space(), 959, &mut random).await;
        assert_eq!(model(&database).await, (1023, 1));
        check_codes(&database).await;
        embed(&store, &other, 1, &mut random).await;
        assert_eq!(model(&database).await, (1024, 2));
        check_codes(&database).await;
        embed(&store, &space(), 50, &mut random).await;
        assert_eq!(model(&database).await, (1034, 2));
        tables::check(&database).await;
        check_codes(&database).await;
    });
}

/// R35: another call saves vectors, or changes the centre, before each request of a call. All codes are relative to the centre afterwards.
#[test]
fn a_change_of_the_centre_meanwhile_does_not_mix_codes() {
    for (before, of_call, of_other) in [(40, 10, 14), (40, 30, 5), (40, 30, 40), (60, 2, 2), (60, 3, 4), (0, 40, 40)] {
        for request in 0..5 {
            let (test, mut random) = (database::empty(), Random::new(35));
            let (store, observed) = (database::store_in(&test), Observed::new(&test));
            let database = test.database();
            testing::run(async {
                save_numbered(&store, &space(), 0, before + of_call).await;
                let other = Space { name: "x".into(), ..space() };
                save_numbered(&store, &other, 0, of_other + 40).await;
                embed(&store, &space(), before, &mut random).await;
                let saving = observed.store();
                let pending = saving.pending(&space(), MODEL, 50).await.expect("pending").passages;
                let vectors = pending.iter().map(|passage| (passage.id, random_vector(&mut random))).collect();
                observed.requests();
                let of_other = async move { embed(&store, &other, of_other, &mut Random::new(1)).await };
                observed.before(request, of_other);
                saving.save_vectors(&space(), MODEL, vectors).await.expect("saved");
                let (saved, generation) = model(&database).await;
                check_codes(&database).await;
                tables::check(&database).await;
                assert!(saved >= before + of_call);
                // No call has to notice that it is the 64th: the next one calculates the centre.
                embed(&database::store_in(&test), &Space { name: "x".into(), ..space() }, 1, &mut Random::new(2)).await;
                let (saved, after) = model(&database).await;
                assert_eq!(after, usize::from(saved >= 64), "{before} {of_call} {request}: {generation}");
                check_codes(&database).await;
            });
        }
    }
}

/// R26, R35, R63: the document of a vector is deleted or changed before each request that saves the vector. No table keeps anything of it.
#[test]
fn a_document_that_is_deleted_meanwhile_leaves_nothing() {
    for request in 0..4 {
        for is_deleted in [true, false] {
            let (test, mut random) = (database::empty(), Random::new(36));
            let (store, observed) = (database::store_in(&test), Observed::new(&test));
            testing::run(async {
                save_numbered(&store, &space(), 0, 70).await;
                embed(&store, &space(), 30, &mut random).await;
                let saving = observed.store();
                let pending = saving.pending(&space(), MODEL, 40).await.expect("pending").passages;
                let vectors: Vec<_> = pending.iter().map(|it| (it.id, random_vector(&mut random))).collect();
                observed.requests();
                observed.before(request, async move {
                    for nth in (20..70).step_by(3) {
                        let name = format!("d{nth}");
                        if is_deleted {
                            assert!(store.remove(&space(), &name).await.expect("removed"));
                        } else {
                            store.save(&space(), &document(&name, &format!("motor {nth}"))).await.expect("saved");
                        }
                    }
                });
                saving.save_vectors(&space(), MODEL, vectors).await.expect("saved");
                tables::check(&test.database()).await;
                check_codes(&test.database()).await;
            });
        }
    }
}

/// R44, R64: the vectors of the index are deleted, and come from another model, before each request of a call.
#[test]
fn vectors_of_two_models_are_never_mixed() {
    for (request, number) in (0..4).flat_map(|request| [(request, 0), (request, 1)]) {
        let (test, mut random) = (database::empty(), Random::new(44));
        let (store, observed) = (database::store_in(&test), Observed::new(&test));
        testing::run(async {
            save_numbered(&store, &space(), 0, 40).await;
            embed(&store, &space(), 20, &mut random).await;
            let saving = observed.store();
            let pending = saving.pending(&space(), MODEL, 10).await.expect("pending").passages;
            let vectors: Vec<_> = pending.iter().map(|it| (it.id, random_vector(&mut random))).collect();
            observed.requests();
            observed.before(request, async move {
                store.remove_vectors("docs").await.expect("removed");
                let name = format!("synonyms-{number}");
                let pending = store.pending(&space(), &name, 5).await.expect("pending").passages;
                let vectors = pending.iter().map(|it| (it.id, vec![1.0; DIMENSIONS + number])).collect();
                store.save_vectors(&space(), &name, vectors).await.expect("saved");
            });
            let saved = saving.save_vectors(&space(), MODEL, vectors).await.map_err(|error| error.kind);
            assert_eq!(saved, if number == 1 { Err(StoreFailure::OtherModel) } else { Ok(()) }, "{request}");
            tables::check(&test.database()).await;
            let lengths = "SELECT DISTINCT length(vector) FROM rag_vectors WHERE vector IS NOT NULL";
            assert_eq!(test.database().query(lengths).all::<usize>().await.expect("lengths").len(), 1, "{request}");
        });
    }
}

/// R44: two calls record the model of the index at the same time, with vectors of different lengths.
#[test]
fn the_first_vectors_determine_the_length() {
    let test = database::empty();
    let (store, observed) = (database::store_in(&test), Observed::new(&test));
    testing::run(async {
        save_numbered(&store, &space(), 0, 2).await;
        let other = store.clone();
        observed.before(2, async move {
            other.save_vectors(&space(), MODEL, vec![(1, vec![1.0, 0.5])]).await.expect("saved");
        });
        let saved = observed.store().save_vectors(&space(), MODEL, vec![(2, vec![1.0; DIMENSIONS])]).await;
        assert_eq!(saved.map_err(|error| error.kind), Err(StoreFailure::OtherModel));
        tables::check(&test.database()).await;
    });
}

/// R44, R71: the vectors of the index are replaced by those of another model before each request of a search. Vectors of two models are never
/// compared.
#[test]
fn a_search_does_not_compare_vectors_of_another_model() {
    for request in 0..5 {
        let test = database::empty();
        let (store, observed) = (Rc::new(database::store_in(&test)), Observed::new(&test));
        testing::run(async {
            save(&*store, &space(), [("tea".into(), "hot tea".into()), ("car".into(), "the motor".into())]).await;
            let save_with = async |store: &SqliteVectors, model: &Synonyms| {
                let name = edge_mcp::rag::Embedder::model(model);
                let pending = store.pending(&space(), &name, 9).await.expect("pending").passages;
                let vectors = pending.iter().map(|it| (it.id, model.vector(&it.text))).collect();
                store.save_vectors(&space(), &name, vectors).await.expect("saved");
            };
            save_with(&store, &Synonyms::default()).await;
            observed.before(request, async move {
                store.remove_vectors("docs").await.expect("removed");
                save_with(&store, &Synonyms::numbered(1)).await;
            });
            let searched = Rc::new(InSpace { store: Rc::new(observed.store()), space: space() });
            let retriever = Retriever::new("docs", searched).embedder(Synonyms::default());
            let found = retriever.retrieve(Search::new("warm kettle tea"), &testing::context(&TestHost::new())).await;
            let found = found.expect("found");
            assert_eq!(found.passages[0].passage.document, "tea", "{request}");
            let model = Synonyms::default();
            for found in &found.passages {
                let (question, text) = (model.vector("warm kettle tea"), model.vector(&found.passage.text));
                let cosine: f32 = question.iter().zip(&text).map(|(one, other)| one * other).sum();
                let similarity = found.similarity.unwrap_or(cosine.into());
                assert!((similarity - f64::from(cosine)).abs() < 0.02, "{request}: {similarity}, expected {cosine}");
            }
        });
    }
}

/// A batch with vectors for passages of another space of the index changes nothing there.
#[test]
fn vectors_for_passages_of_another_space_are_ignored() {
    let (test, mut random) = (database::empty(), Random::new(37));
    let store = database::store_in(&test);
    let (database, other) = (test.database(), Space { name: "x".into(), ..space() });
    testing::run(async {
        save_numbered(&store, &space(), 0, 3).await;
        save_numbered(&store, &other, 0, 3).await;
        embed(&store, &other, 2, &mut random).await;
        let rows = async |table: &str| -> BTreeMap<PassageId, String> {
            let rows = database.query(format!("SELECT id, ifnull({table}, '') FROM rag_{table}s")).all().await;
            rows.expect("rows").into_iter().collect()
        };
        let before = (rows("vector").await, rows("code").await);
        let foreign: Vec<_> = (4..9).map(|id| (id, random_vector(&mut random))).collect();
        store.save_vectors(&space(), MODEL, foreign).await.expect("saved");
        assert_eq!((rows("vector").await, rows("code").await), before);
        tables::check(&database).await;
    });
}
