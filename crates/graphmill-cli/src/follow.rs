//! The flag `--direction` of verbs that follow edges.

use clap::ValueEnum;
use graphmill::format::Direction;

/// Which edges of a node are followed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Follow {
    In,
    Out,
}

impl From<Follow> for Direction {
    fn from(follow: Follow) -> Self {
        match follow {
            Follow::In => Direction::In,
            Follow::Out => Direction::Out,
        }
    }
}
