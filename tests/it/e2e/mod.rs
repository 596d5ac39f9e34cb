//! End to end: a real worker, the real client over real HTTP, real git, on the embedded forge.

mod app;
mod backends;
mod bad_input;
mod blocked;
mod commands;
mod crash;
mod crowd;
mod failures;
mod happy;
mod labels;
mod leases;
mod lost;
mod meanwhile;
mod policy;
mod proof;
mod publishing;
mod reading;
mod secrets;
mod seeds;
mod several;
mod signals;
mod trouble;
mod trust;
