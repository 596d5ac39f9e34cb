//! The REST API over real HTTP: the calls of a worker after it has opened a pull request, kinds of tokens, and moods.

mod actions;
mod checks;
mod merging;
mod mood_fixture;
mod mood_lags;
mod moods;
mod rulesets;
mod tokens;
