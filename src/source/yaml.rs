//! YAML text → tree.
