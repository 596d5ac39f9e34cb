//! Hob against GitHub itself, as far as that can be had without a network: what GitHub was recorded to answer.

mod asked;
mod packages;
mod payloads;
mod recorded;
mod replay;
