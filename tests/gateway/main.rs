//! The confirmation gateway: its rows as data, its wire, random histories, gateways that are killed, two on one database.
//!
//! Each test runs on SQLite; on PostgreSQL too where `ACL_TEST_POSTGRES` holds the address of a database in which it may
//! make others (`tests/gateway/postgres.sh cargo test --features gateway --test gateway`), and says which it ran on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by failing"
)]

mod crash;
mod histories;
mod http;
mod rows;
mod several;
mod stores;
mod support;
mod wire;
