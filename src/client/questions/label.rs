//! The beginning of a label: the name of a server in brackets, with which a text of this server begins.

/// The characters with which a label can begin. Those after the first look like it.
pub(super) const BRACKETS: [char; 5] = ['[', '［', '⟦', '〚', '⁅'];
