//! The questions of a server: elicitation, sampling and roots. A function of the program answers them (`handlers`), or the caller of this
//! program (`passed`).

pub(super) mod answer;
pub(super) mod handlers;
pub(crate) mod passed;
mod passed_sampling;
pub(super) mod question;
