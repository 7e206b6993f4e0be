//! A map for short keys: FNV-1a in place of the standard hash.
//!
//! A decision looks up some twenty words of a path or command, most of them in vain. The standard hash protects from
//! callers who choose keys to collide; here whoever writes the keys writes the policy.

use std::hash::{BuildHasherDefault, Hasher};

/// A map from short text.
pub type HashMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Fnv>>;

/// FNV-1a, 64 bits.
#[derive(Debug)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
