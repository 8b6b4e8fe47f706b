//! The ways in which a tool can crash the module.

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

    /// Crashes the module. It would return only on a machine with unlimited memory.
    pub(crate) fn happen(self) {
        match self {
            Self::Panic => panic!("the request asked for a panic"),
            Self::Overflow => drop(black_box(overflow(1))),
            Self::Recursion => drop(black_box(recurse(1))),
            Self::Exhaustion => exhaust(),
        }
    }
}

/// Overflows the stack in the linear memory of the module.
fn overflow(depth: u64) -> u64 {
    let frame = black_box([depth; 512]);
    if black_box(depth) == 0 { 0 } else { overflow(depth + 1) + frame.iter().sum::<u64>() }
}

/// Overflows the stack of the runtime. Its frames use none of the module's memory.
fn recurse(depth: u64) -> u64 {
    if black_box(depth) == 0 { 0 } else { recurse(depth + 1) ^ black_box(depth) }
}

/// Allocates memory until the allocation fails. It does not write to the memory, so the module runs out of memory, but the machine does
/// not.
fn exhaust() {
    loop {
        mem::forget(black_box(Vec::<u8>::with_capacity(64 << 20)));
    }
}
