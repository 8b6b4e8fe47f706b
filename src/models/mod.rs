//! Models: what requests to them share.

mod ai;

pub use ai::{Ai, AiFailure};
