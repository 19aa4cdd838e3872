//! Random walks, negative edges and rows of neighbours, over small graphs whose laws can be enumerated.

mod law;
mod matrix;
mod negative_edges;
mod rules;
mod walked_lists;
