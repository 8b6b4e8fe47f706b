//! The state of an endpoint: values that all of its requests share.

use std::any::{Any, type_name};
use std::fmt;
use std::rc::Rc;

/// The values of [`Endpoint::state`](crate::Endpoint::state), one of each type.
#[derive(Clone, Default)]
pub(crate) struct State(Rc<Vec<StateValue>>);

#[derive(Clone)]
struct StateValue {
    type_name: &'static str,
    value: Rc<dyn Any>,
    /// Whether the program added a second value of this type.
    is_added_twice: bool,
}

impl State {
    /// Adds a value, and returns `true`. Returns `false` if the state already has a value of this type. Then neither can be read.
    pub(crate) fn add<T: 'static>(&mut self, value: T) -> bool {
        let entries = Rc::make_mut(&mut self.0);
        if let Some(known) = entries.iter_mut().find(|known| known.value.is::<T>()) {
            known.is_added_twice = true;
            return false;
        }
        entries.push(StateValue { type_name: type_name::<T>(), value: Rc::new(value), is_added_twice: false });
        true
    }

    /// Returns the value of type `T`.
    pub(crate) fn get<T: 'static>(&self) -> Result<Rc<T>, MissingState> {
        let known = self.0.iter().find(|known| known.value.is::<T>());
        let value = known.filter(|known| !known.is_added_twice).and_then(|known| known.value.clone().downcast().ok());
        value.ok_or_else(|| MissingState {
            wanted: type_name::<T>(),
            is_added_twice: known.is_some(),
            registered: self.0.iter().map(|known| known.type_name).collect(),
        })
    }
}

/// The error of a handler or a server function that requests state of a type that the endpoint does not have.
///
/// `?` converts it into a [`HandlerError`](crate::HandlerError) or a [`BuildError`](crate::BuildError). Its text names the types that the
/// endpoint has, and goes to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingState {
    wanted: &'static str,
    is_added_twice: bool,
    registered: Vec<&'static str>,
}

impl fmt::Display for MissingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_added_twice {
            return write!(f, "the state `{}` is added twice: add one value of each type", self.wanted);
        }
        write!(f, "the state `{}` is missing: add it with `Endpoint::state`", self.wanted)?;
        if self.registered.is_empty() {
            return f.write_str(" (the endpoint has no state)");
        }
        write!(f, " (the endpoint has `{}`)", self.registered.join("`, `"))
    }
}

impl std::error::Error for MissingState {}
