//! Typed settings, one section a file, and the only reader of the environment.

mod environment;

pub use environment::child_environment;
