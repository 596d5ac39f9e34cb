//! A world for one test: the embedded forge, people with tokens, a repository, real workers. It fails on leftovers.

mod apps;
mod books;
mod children;
mod faults;
mod gate;
mod inside;
mod installed;
mod leftovers;
mod mirror;
mod model;
mod older;
mod people;
mod program;
mod receiver;
mod redacted;
mod replies;
mod sandboxed;
mod script;
mod view;
mod virtual_time;
mod world;

pub(crate) use apps::{APP, private_key};
pub(crate) use books::{BILL, Books, Machine, billed};
pub(crate) use faults::{Faulty, Lost};
pub(crate) use gate::{AT_THE_GATE, Gate};
pub(crate) use inside::Turnstile;
pub(crate) use installed::{PYTHON, needs, skipped, starts};
pub(crate) use model::Model;
pub(crate) use program::Ended;
pub(crate) use receiver::{Receiver, WEBHOOK_SECRET};
pub(crate) use redacted::redacted;
pub(crate) use replies::Replies;
pub(crate) use sandboxed::{launcher, processes_in, sandbox, strict_fence};
pub(crate) use script::{executable, script};
pub(crate) use virtual_time::in_virtual_time;
pub(crate) use world::{Builder, World, claim, repo, repo_on_forge, run};
