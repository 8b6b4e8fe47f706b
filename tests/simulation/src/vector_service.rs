//! The service beside the database that finds the nearest vectors, such as Vectorize. Its changes are visible after some seconds.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use edge_mcp::rag::{IndexedVector, VectorIndex, VectorIndexError, VectorQuery};
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::faults::Point;
use crate::ledger::Invariant;
use crate::world::World;

/// The most vectors of a request, and the most results of a search.
const MOST_VECTORS: usize = 500;
const MOST_RESULTS: usize = 100;

/// A vector, its namespace, and the time from which a search finds it.
struct Stored {
    namespace: String,
    vector: Vec<f32>,
    from_ms: u64,
}

/// The service, which all isolates share.
#[derive(Default)]
pub struct VectorService(RefCell<BTreeMap<i64, Stored>>);

impl VectorService {
    /// Returns the vector of a passage in a namespace.
    pub fn vector(&self, namespace: &str, id: i64) -> Option<Vec<f32>> {
        let all = self.0.borrow();
        all.get(&id).filter(|stored| stored.namespace == namespace).map(|stored| stored.vector.clone())
    }
}

/// A handle of the service for an isolate.
pub struct Handle {
    pub world: Rc<World>,
    pub service: Rc<VectorService>,
}

impl Handle {
    /// Does some work, which can fail before or after it has an effect.
    async fn run<T>(&self, work: impl FnOnce(&mut BTreeMap<i64, Stored>) -> T) -> Result<T, VectorIndexError> {
        let World { faults, schedule, ledger, .. } = &*self.world;
        ledger.count();
        schedule.sleep(1).await;
        if faults.at(Point::IndexFails).is_some() {
            return Err(VectorIndexError("the index does not answer".to_owned()));
        }
        let done = work(&mut self.service.0.borrow_mut());
        schedule.sleep(1).await;
        match faults.at(Point::IndexFailsLate) {
            Some(_) => Err(VectorIndexError("the connection to the index has ended".to_owned())),
            None => Ok(done),
        }
    }
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    let product = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(one, other)| one * other).sum::<f32>();
    product(one, other) / (product(one, one) * product(other, other)).sqrt()
}

impl VectorIndex for Handle {
    fn query(&self, query: VectorQuery) -> LocalBoxFuture<'_, Result<Vec<i64>, VectorIndexError>> {
        let now = self.world.schedule.now_ms();
        let found = self.run(move |all| {
            let of_namespace = |stored: &&Stored| stored.namespace == query.namespace && stored.from_ms <= now;
            let visible = all.iter().filter(|(_, stored)| of_namespace(stored));
            let mut near: Vec<_> = visible.map(|(id, stored)| (cosine(&stored.vector, &query.vector), *id)).collect();
            near.sort_by(|one, other| other.0.total_cmp(&one.0));
            near.into_iter().take(query.most.min(MOST_RESULTS)).map(|(_, id)| id).collect()
        });
        found.boxed_local()
    }

    fn upsert(&self, namespace: &str, vectors: Vec<IndexedVector>) -> LocalBoxFuture<'_, Result<(), VectorIndexError>> {
        let World { ledger, faults, schedule, .. } = &*self.world;
        let count = vectors.len();
        ledger.check(count <= MOST_VECTORS, Invariant::Budget, || format!("the index gets {count} vectors at once"));
        let late_ms = faults.at(Point::IndexIsLate).map_or(0, |fault| fault.ms(10_000));
        let (namespace, from_ms) = (namespace.to_owned(), schedule.now_ms() + late_ms);
        let saved = self.run(move |all| {
            for IndexedVector { id, vector } in vectors {
                all.insert(id, Stored { namespace: namespace.clone(), vector, from_ms });
            }
        });
        saved.boxed_local()
    }

    fn delete(&self, ids: &[i64]) -> LocalBoxFuture<'_, Result<(), VectorIndexError>> {
        let ids = ids.to_vec();
        self.run(move |all| all.retain(|id, _| !ids.contains(id))).boxed_local()
    }
}
