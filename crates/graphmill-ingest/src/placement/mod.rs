//! Rows into their places.
