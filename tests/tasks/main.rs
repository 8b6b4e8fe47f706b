//! Durable tasks: the protocol, clients without tasks, interruptions, deployments, hostile callers, and hooks.

// Tests and their helpers may panic when an assumption fails.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod agents;
mod attempts;
mod crashes;
mod deploy;
mod environment;
mod fallback;
mod generations;
mod hooks;
mod hostile;
mod interruptions;
mod lifetime;
mod listen;
mod programs;
mod protocol;
mod questions;
#[cfg(feature = "client")]
mod remote;
mod retries;
mod ways;
mod world;
