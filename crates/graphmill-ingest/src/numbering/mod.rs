//! Numbers for nodes.
