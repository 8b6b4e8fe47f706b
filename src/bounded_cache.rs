//! A cache of bounded size whose entries expire.

use std::borrow::Borrow;

/// A map of at most `capacity` entries of at most `most_bytes` bytes together, each with the time at which it expires.
///
/// An insertion into a full cache evicts the expired entries. If the new entry then does not fit, the entries that expire soonest are
/// evicted.
///
/// All times have the same unit, such as seconds since 1970. The cache does not have a clock: each call passes the current time.
pub(crate) struct BoundedCache<K, V> {
    capacity: usize,
    most_bytes: usize,
    /// Sorted by key.
    entries: Vec<CacheEntry<K, V>>,
}

struct CacheEntry<K, V> {
    key: K,
    value: V,
    bytes: usize,
    expires: u64,
}

/// The expiry of an entry that never expires.
pub(crate) const NEVER: u64 = u64::MAX;

impl<K: Ord, V> BoundedCache<K, V> {
    /// Creates an empty cache.
    pub(crate) const fn new(capacity: usize) -> Self {
        Self::of_bytes(capacity, usize::MAX)
    }

    /// Creates an empty cache whose entries have at most `most_bytes` bytes together.
    pub(crate) const fn of_bytes(capacity: usize, most_bytes: usize) -> Self {
        Self { capacity, most_bytes, entries: Vec::new() }
    }

    /// Returns the value of `key`, or `None` if it is absent or has expired.
    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q, now: u64) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let entry = self.entries.get(self.position(key).ok()?)?;
        (now < entry.expires).then_some(&entry.value)
    }

    /// Returns whether the cache has no entries, also none that have expired.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Inserts `value` under `key`, and replaces an earlier value. Does nothing if `expires` has already passed.
    pub(crate) fn insert(&mut self, key: K, value: V, expires: u64, now: u64) {
        self.insert_of_bytes(key, value, 0, expires, now);
    }

    /// Inserts `value` as [`insert`](Self::insert) does. It counts as `bytes`. Does nothing if it exceeds the limit alone.
    pub(crate) fn insert_of_bytes(&mut self, key: K, value: V, bytes: usize, expires: u64, now: u64) {
        if expires <= now || self.capacity == 0 || bytes > self.most_bytes {
            return;
        }
        if let Ok(position) = self.position(&key) {
            self.entries.remove(position);
        }
        if !self.has_room(bytes) {
            self.entries.retain(|entry| now < entry.expires);
        }
        while !self.has_room(bytes) {
            let soonest = self.entries.iter().enumerate().min_by_key(|(_, entry)| entry.expires);
            let Some((position, _)) = soonest else { break };
            self.entries.remove(position);
        }
        let position = self.position(&key).unwrap_or_else(|position| position);
        self.entries.insert(position, CacheEntry { key, value, bytes, expires });
    }

    /// Returns whether a new entry of `bytes` fits.
    fn has_room(&self, bytes: usize) -> bool {
        let used = self.entries.iter().map(|entry| entry.bytes).fold(bytes, usize::saturating_add);
        self.entries.len() < self.capacity && used <= self.most_bytes
    }

    /// Returns the position of `key`. If the key is absent, the error is the position at which to insert it.
    fn position<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.entries.binary_search_by(|entry| entry.key.borrow().cmp(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(cache: &BoundedCache<&'static str, u8>) -> Vec<&'static str> {
        cache.entries.iter().map(|entry| entry.key).collect()
    }

    #[test]
    fn an_entry_expires() {
        let mut cache = BoundedCache::new(2);
        cache.insert("a", 1, 10, 5);
        assert_eq!((cache.get("a", 9), cache.get("a", 10), cache.get("b", 9)), (Some(&1), None, None));
        cache.insert("a", 2, 5, 5);
        assert_eq!(cache.get("a", 9), Some(&1), "an expired value does not replace another");
        cache.insert("a", 3, 20, 5);
        assert_eq!((cache.get("a", 19), cache.entries.len()), (Some(&3), 1));
        cache.insert("b", 4, NEVER, 5);
        assert_eq!(cache.get("b", NEVER - 1), Some(&4));
    }

    /// A full cache evicts only the expired entries. If no entry has expired, it evicts the entry that expires soonest.
    #[test]
    fn expired_entries_are_evicted_first() {
        let mut cache = BoundedCache::new(4);
        for (key, expires) in [("b", 20), ("d", 10), ("a", 30), ("c", 10)] {
            cache.insert(key, 0, expires, 0);
        }
        cache.insert("e", 0, 15, 10);
        assert_eq!(keys(&cache), ["a", "b", "e"]);
        cache.insert("f", 0, 40, 10);
        cache.insert("g", 0, 12, 10);
        assert_eq!(keys(&cache), ["a", "b", "f", "g"], "e expires soonest, and the new entry stays");
        cache.insert("a", 0, 50, 10);
        assert_eq!(keys(&cache), ["a", "b", "f", "g"], "replacing a value does not evict an entry");
    }

    #[test]
    fn the_bytes_of_all_entries_are_bounded() {
        let mut cache = BoundedCache::of_bytes(10, 100);
        for (key, bytes, expires) in [("a", 40, 30), ("b", 40, 20), ("c", 20, 40)] {
            cache.insert_of_bytes(key, 0, bytes, expires, 0);
        }
        assert_eq!(keys(&cache), ["a", "b", "c"], "at the limit");
        cache.insert_of_bytes("d", 0, 1, 10, 0);
        assert_eq!(keys(&cache), ["a", "c", "d"], "one byte beyond the limit");
        cache.insert_of_bytes("e", 0, 100, 10, 0);
        assert_eq!(keys(&cache), ["e"], "several entries are evicted");
        cache.insert_of_bytes("f", 0, 101, 10, 0);
        assert_eq!(keys(&cache), ["e"], "an entry beyond the limit is not cached");
        cache.insert_of_bytes("e", 1, 100, 10, 0);
        assert_eq!(cache.get("e", 0), Some(&1), "replacing a value frees its bytes");
    }

    #[test]
    fn the_capacity_is_never_exceeded() {
        let mut cache = BoundedCache::new(100);
        for key in 0..1000_u64 {
            cache.insert(key * 7 % 1000, key, 100 + key % 3, 5);
            assert!(cache.entries.len() <= 100);
            assert_eq!(cache.get(&(key * 7 % 1000), 99), Some(&key), "the newest entry is cached");
        }
        let mut empty = BoundedCache::new(0);
        empty.insert(1, 1, 2, 0);
        assert_eq!(empty.get(&1, 0), None);
    }
}
