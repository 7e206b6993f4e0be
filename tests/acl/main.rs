//! The integration tests: one binary, its cases are data.

mod drawing;
mod generated;
mod reference;
mod schema;
