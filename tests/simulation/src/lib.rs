//! A simulation of whole systems: see README.md.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod batches;
pub mod caller;
pub mod case;
pub mod database;
pub mod faults;
pub mod items;
pub mod ledger;
pub mod listening;
pub mod memory;
pub mod model;
pub mod network;
pub mod objects;
pub mod parts;
pub mod program;
pub mod published;
pub mod run;
pub mod schedule;
pub mod shrink;
pub mod upstream;
pub mod upstream_items;
pub mod world;
