//! What a change's tests show: which files are tests, how each test ended, and what follows from the four runs. Pure; the
//! trees are made in `hob-workspace`, the runs in `hob-worker`.

mod compare;
mod dependencies;
mod failure;
mod flakes;
pub mod formats;
mod generated;
mod judge;
mod manifest;
mod rust;
mod sides;

pub use compare::{Made, Run, Runs};
pub use dependencies::{PackageFile, dependencies, is_lock, names_packages};
pub use flakes::{FEW, Next, ON_BASE, next, reruns_of};
pub use generated::{GeneratedRules, says_generated};
pub use judge::judges;
pub use manifest::{judged_by, judges_otherwise};
pub use rust::{Split, split};
pub use sides::{Side, Sides};
