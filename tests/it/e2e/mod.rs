//! End to end: a real worker, the real client over real HTTP, real git, on the embedded forge.

mod backends;
mod bad_input;
mod blocked;
mod budgets;
mod commands;
mod control;
mod crash;
mod crowd;
mod drift;
mod failures;
mod happy;
mod labels;
mod leases;
mod lost;
mod meanwhile;
mod order;
mod policy;
mod proof;
mod publishing;
mod reading;
mod secrets;
mod seeds;
mod signals;
mod trouble;
mod trust;
