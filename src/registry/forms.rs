//! Objects in two JSON forms: with the names of the registry's first drafts, and with those of `server.json`.

use serde_json::{Map, Value};

/// An object in both forms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forms {
    pub draft: Map<String, Value>,
    pub current: Map<String, Value>,
}

impl Forms {
    /// Sets the member that has the name `draft` in the first drafts, and `current` in `server.json`. A form without the member has an
    /// empty name.
    pub(super) fn set(&mut self, [draft, current]: [&str; 2], value: impl Into<Value>) {
        let value = value.into();
        for (form, name) in [(&mut self.draft, draft), (&mut self.current, current)] {
            if !name.is_empty() {
                form.insert(name.into(), value.clone());
            }
        }
    }

    /// Adds an object to a list that has these names.
    pub(super) fn push(&mut self, names: [&str; 2], item: Self) {
        self.add(names, [item.draft.into(), item.current.into()]);
    }

    /// Adds an item, in both forms, to a list that has these names.
    pub(super) fn add(&mut self, names: [&str; 2], item: [Value; 2]) {
        for ((form, name), item) in [&mut self.draft, &mut self.current].into_iter().zip(names).zip(item) {
            if !name.is_empty()
                && let Value::Array(items) = form.entry(name).or_insert_with(|| Value::Array(Vec::new()))
            {
                items.push(item);
            }
        }
    }
}

/// Returns the text of a member, or an empty text without the member.
pub(super) fn text<'f>(form: &'f Map<String, Value>, name: &str) -> &'f str {
    form.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the items of a list, or an empty slice without the member.
pub(super) fn items<'f>(form: &'f Map<String, Value>, name: &str) -> &'f [Value] {
    form.get(name).and_then(Value::as_array).map_or(&[], |items| items)
}

/// Declares a type with both forms: a constructor with the values that each object has, and a method for each further member. A method
/// without a parameter sets the member to `true`.
macro_rules! object {
    (
        $(#[$doc:meta])* $type:ident; $(#[$new_doc:meta])* $new:ident($($given:ident => $given_names:expr),*);
        $($(#[$method_doc:meta])* $method:ident $(($value:ident))? => $names:expr;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $type(pub(crate) Forms);

        impl $type {
            $(#[$new_doc])*
            pub fn $new($($given: impl Into<Text>),*) -> Self {
                let mut forms = Forms::default();
                $(forms.set($given_names, &*$given.into());)*
                Self(forms)
            }

            $(
                $(#[$method_doc])*
                #[must_use]
                pub fn $method(mut self $(, $value: impl Into<Text>)?) -> Self {
                    self.0.set($names, object!(@ $($value)?));
                    self
                }
            )*
        }
    };
    (@) => { true };
    (@ $value:ident) => { &*$value.into() };
}
pub(super) use object;
