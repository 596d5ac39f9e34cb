//! The forge itself: its limits, its version, who one is.

use serde_json::json;

use super::super::{
    call::{Answer, Call, Reply},
    refusal::Refusal,
    route::{Route, get},
    wire::{private_account, public_account},
};
use crate::names::Login;

pub(super) const ROUTES: &[Route] =
    &[get("/rate_limit", rate_limit), get("/meta", meta), get("/user", user), get("/users/{login}", account)];

fn rate_limit(call: &Call) -> Answer {
    let reading = call.forge.meter.read(call.caller.as_ref().map(Login::as_str), call.now);
    let rate = json!({
        "limit": reading.limit,
        "used": reading.used,
        "remaining": reading.remaining(),
        "reset": reading.reset.timestamp(),
    });
    let resources = json!({"core": rate, "search": rate, "graphql": rate});
    Ok(Reply::ok(&json!({"resources": resources, "rate": rate})))
}

fn meta(_: &Call) -> Answer {
    Ok(Reply::ok(&json!({"verifiable_password_authentication": false, "installed_version": "3.17.0"})))
}

fn user(call: &Call) -> Answer {
    let login = call.actor()?;
    Ok(Reply::ok(&private_account(call.forge.server(), &call.state().accounts, login.as_str())))
}

fn account(call: &Call) -> Answer {
    let state = call.state();
    state.accounts.get(call.part("login")).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(&public_account(call.forge.server(), &state.accounts, call.part("login"))))
}
