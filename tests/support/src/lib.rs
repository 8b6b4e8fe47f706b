//! Code that several tests use: a sample server and requests to it, networks and models with prepared answers, golden files, random choices
//! and vectors, telemetry that records, and a wait for tests of concurrency.

pub mod fake_model;
pub mod golden;
pub mod network;
// The fuzz targets include this file too.
#[path = "../../property/random.rs"]
pub mod random;
mod specimen;
pub mod telemetry;
mod turn;
pub mod vectors;

pub use specimen::*;
pub use turn::turn;
