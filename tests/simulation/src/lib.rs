//! A simulation of whole systems: see README.md.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod authorization;
pub mod batches;
pub mod browser;
pub mod caller;
pub mod case;
pub mod database;
pub mod digest;
pub mod embeddings;
pub mod faults;
pub mod items;
pub mod ledger;
pub mod listening;
pub mod memory;
pub mod model;
pub mod network;
pub mod objects;
pub mod parts;
pub mod passages;
pub mod program;
pub mod published;
pub mod run;
pub mod schedule;
pub mod shelf;
pub mod shrink;
pub mod sign_in;
pub mod sign_in_rows;
pub mod tables;
pub mod token_uses;
pub mod upstream;
pub mod upstream_items;
pub mod world;

pub mod gateway;
pub mod gateway_caller;
pub mod gateway_names;
pub mod gateway_narrow;
pub mod gateway_plan;
pub mod gateway_server;
pub mod hostile;
