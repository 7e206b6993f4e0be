//! Maps for short keys: FNV-1a in place of the standard hash, and for sets of numbers one that is faster still.
//!
//! A decision looks up some twenty words of a path or command, most of them in vain. The standard hash protects from
//! callers who choose keys to collide; here whoever writes the keys writes the policy.

use std::hash::{BuildHasherDefault, Hasher};

/// A map from short text.
pub type HashMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Fnv>>;

/// A map from sets of numbers, eight bytes at a time.
pub type SetMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Eights>>;

/// What `SetMap` hashes by.
#[derive(Debug, Default)]
pub struct Eights(u64);

impl Hasher for Eights {
    fn write(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(8) {
            let mut eight = [0; 8];
            eight
                .iter_mut()
                .zip(bytes)
                .for_each(|(own, byte)| *own = *byte);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(eight))
                .wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }

    fn finish(&self) -> u64 {
        // The upper bits are the mixed ones, and a table looks at the lower ones too.
        self.0.rotate_left(26)
    }
}

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
