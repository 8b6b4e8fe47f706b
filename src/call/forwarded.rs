//! The parts of a caller's request that the program passes on to other servers, such as the name of a tenant.
//!
//! An answer to a question counts only for a request with the same values: see [`forwarded`]. The names come from the definition of a client.
//! They do not depend on a request, so all requests of the isolate share them.

use std::cell::RefCell;
use std::fmt::Write;

use super::context::Context;
#[cfg(feature = "client")]
use crate::config::ConfigError;
#[cfg(feature = "client")]
use crate::limits::FORWARDED_NAMES;
#[cfg(feature = "client")]
use crate::text::shortened;

/// The place of a value in the request of a caller.
#[cfg_attr(not(feature = "client"), expect(dead_code, reason = "only the client passes values on"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Header,
    Meta,
}

thread_local! {
    /// Sorted, so that the order does not depend on the order in which clients are created.
    static NAMES: RefCell<Vec<(Place, String)>> = const { RefCell::new(Vec::new()) };
}

/// Records that the program passes on the value with this name.
///
/// # Errors
/// The program passes on too many different names.
#[cfg(feature = "client")]
pub(crate) fn record(place: Place, name: &str) -> Result<(), ConfigError> {
    NAMES.with_borrow_mut(|names| {
        let entry = (place, name.to_owned());
        let Err(position) = names.binary_search(&entry) else { return Ok(()) };
        if names.len() >= FORWARDED_NAMES {
            let problem = format!(
                "a program passes on at most {FORWARDED_NAMES} headers and members of `_meta` (got `{}` in addition)",
                shortened(name)
            );
            return Err(ConfigError::new("a value of the caller to pass on", problem));
        }
        names.insert(position, entry);
        Ok(())
    })
}

/// Returns the values in the request of `cx` that the program passes on, as a text that differs if one of them differs.
pub(crate) fn forwarded(cx: &Context) -> String {
    NAMES.with_borrow(|names| {
        let mut text = String::new();
        for (place, name) in names {
            let value = match place {
                Place::Header => cx.header(name),
                Place::Meta => cx.meta(name).map(|value| value.to_string()),
            };
            // An absent value does not count, so that a client that is created later does not change the text.
            if let Some(value) = value {
                // A string accepts every text.
                let _ = writeln!(text, "{place:?} {name:?}: {value:?}");
            }
        }
        text
    })
}
