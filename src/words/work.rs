//! The count of the bytes that the functions that read texts read. A test compares the count with the size of the input, so it finds a
//! function that reads the same text again and again, without measuring time.

/// Adds `bytes` to the count of this thread. Does nothing outside of tests.
#[cfg(not(test))]
pub(crate) const fn count(_bytes: usize) {}

#[cfg(test)]
thread_local! {
    static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Adds `bytes` to the count of this thread.
#[cfg(test)]
pub(crate) fn count(bytes: usize) {
    READ.set(READ.get().saturating_add(bytes));
}

/// Returns the result of `work`, and the number of bytes that it read.
#[cfg(test)]
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = READ.get();
    let result = work();
    (result, READ.get().saturating_sub(before))
}
