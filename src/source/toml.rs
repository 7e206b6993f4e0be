//! TOML text → tree.
