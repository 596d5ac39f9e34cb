//! What a child of Hob may reach.
//!
//! - Flow: the settings make a [`Sandbox`]; a caller takes a [`Plan`] from it for each child that runs the code of a
//!   repository, an issue or a model, and names the folders that this child works in. `hob-process` starts Hob's own
//!   program in the child's place and sends it a [`Launch`]; [`was_launched`] is that program's beginning: it supervises
//!   the child, and starts it from a thread that has restricted itself.
//! - Guarantees: a plan is applied whole, or the program is not started and [`REFUSED`] is the exit code. When the
//!   child or Hob ends, for any reason, no process that came from the child is left.
//! - Assumptions: Linux, with what the tier needs; [`probe()`] shows whether a machine has it.
//! - Caveats: a bug of the kernel lets a child out of every tier. [`Tier::None`] restricts nothing.
//!
//! Leaves out: how children are started and their output is read (`hob-process`), and the network's own end (`hob-egress`).

mod disk;
mod entry;
mod launch;
#[cfg(target_os = "linux")]
mod linux;
mod machine;
mod plan;
mod probe;
mod rooted;
mod stat;
mod tier;

pub use disk::{Measured, bytes_on_disk, measure};
pub use entry::was_launched;
pub use launch::{Launch, LaunchError, REFUSED, REFUSED_NOW, refusals_by, refused_because};
pub use plan::{Limits, Maker, Network, Plan, Sandbox};
pub use probe::{Finding, probe, what_keeps_a_box};
pub use rooted::is_program_in;
pub use stat::stat_field;
pub use tier::Tier;
