//! The ways in which a module breaks.

use std::hint::black_box;
use std::mem;

#[derive(Clone, Copy)]
pub(crate) enum Break {
    Panic,
    Overflow,
    Recursion,
    Exhaustion,
}

const BREAKS: [(&str, Break); 4] = [
    ("panic", Break::Panic),
    ("overflow", Break::Overflow),
    ("recursion", Break::Recursion),
    ("exhaustion", Break::Exhaustion),
];

impl Break {
    pub(crate) fn named(name: &str) -> Option<Self> {
        BREAKS.iter().find(|(known, _)| *known == name).map(|(_, how)| *how)
    }

    /// Returns only where the machine has no bounds.
    pub(crate) fn happen(self) {
        match self {
            Self::Panic => panic!("as it was asked to"),
            Self::Overflow => drop(black_box(overflow(1))),
            Self::Recursion => drop(black_box(recurse(1))),
            Self::Exhaustion => exhaust(),
        }
    }
}

/// Fills the stack that is in the module's memory.
fn overflow(depth: u64) -> u64 {
    let frame = black_box([depth; 512]);
    if black_box(depth) == 0 { 0 } else { overflow(depth + 1) + frame.iter().sum::<u64>() }
}

/// Fills the runtime's own stack: its frames are none of the module's memory.
fn recurse(depth: u64) -> u64 {
    if black_box(depth) == 0 { 0 } else { recurse(depth + 1) ^ black_box(depth) }
}

/// Asks for memory until there is none. None of it is written to, so that it is the module's alone and not the machine's.
fn exhaust() {
    loop {
        mem::forget(black_box(Vec::<u8>::with_capacity(64 << 20)));
    }
}
