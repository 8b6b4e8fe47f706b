//! Code that several tests use: a sample server and requests to it, networks and models with prepared answers, golden files, and random
//! choices and vectors.

pub mod fake_model;
pub mod golden;
pub mod network;
// The fuzz targets include this file too.
#[path = "../../property/random.rs"]
pub mod random;
mod specimen;
pub mod vectors;

pub use specimen::*;
