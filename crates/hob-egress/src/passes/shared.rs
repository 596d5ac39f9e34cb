//! What the tables of more than one vendor have.

use crate::shape::Shape::{self, Either, Gate, Value, Words};

/// Names of what is off unless the settings allow it.
pub(super) const CODE: &str = "code_execution";
pub(super) const FILES: &str = "files";
pub(super) const IMAGE_GENERATION: &str = "image_generation";
pub(super) const MCP: &str = "mcp";
pub(super) const STORE: &str = "store";
pub(super) const TIER: &str = "service_tier";
pub(super) const URLS: &str = "urls";
pub(super) const WEB_FETCH: &str = "web_fetch";
pub(super) const WEB_SEARCH: &str = "web_search";

pub(super) const CACHE: Shape = Shape::Members(&[("type", Words(&["ephemeral"])), ("ttl", Value), ("scope", Value)]);
/// A tier at the ordinary prices.
pub(super) const ORDINARY: Shape =
    Either(&[Words(&["auto", "default", "standard", "standard_only"]), Gate(TIER, &Value)]);
