//! The REST API over real HTTP: what a worker needs after it has opened a pull request.

mod actions;
mod checks;
mod merging;
