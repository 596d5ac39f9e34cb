//! What a worker remembers from one poll to the next, so that it asks the forge and git less. All of it can be lost:
//! the ledgers know everything that matters.

mod base_checks;
mod bounded_map;
mod finished;
mod flakes;
mod found_pulls;
mod handed_out;
mod labelled_by_hand;
mod last_page;
mod linked;
mod looked_at;
mod moved;
mod races;
mod read_file;
mod trials;
mod trouble;
mod worker_memory;

pub(super) use found_pulls::Found;
pub(super) use looked_at::LookedAt;
pub(super) use read_file::FileOfCommit;
pub use worker_memory::Preflight;
pub(super) use worker_memory::WorkerMemory;
