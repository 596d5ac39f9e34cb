//! A world for one test: the embedded forge, people with tokens, a repository, real workers. It fails on leftovers.

mod apps;
mod children;
mod door;
mod faults;
mod gate;
mod leftovers;
mod people;
mod program;
mod view;
mod world;

pub(crate) use apps::private_key;
pub(crate) use door::{Door, Point, Side};
pub(crate) use faults::{Faulty, Lost};
pub(crate) use gate::Gate;
pub(crate) use program::Ended;
pub(crate) use world::{Builder, World, repo, run};
