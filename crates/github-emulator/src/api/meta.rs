//! The forge itself: its limits, its version, who one is.

use serde_json::json;

use super::super::{
    call::{Answer, Call, Reply},
    meter,
    refusal::Refusal,
    route::{Route, get},
    wire::{private_account, public_account},
};
use crate::names::Login;

pub(super) const ROUTES: &[Route] =
    &[get("/rate_limit", rate_limit), get("/meta", meta), get("/user", user), get("/users/{login}", account)];

fn rate_limit(call: &Call) -> Answer {
    let rate_of = |payer: Option<&str>| {
        let reading = call.forge.meter.read(payer, call.now);
        json!({
            "limit": reading.limit,
            "used": reading.used,
            "remaining": reading.remaining(),
            "reset": reading.reset.timestamp(),
        })
    };
    let login = call.caller.as_ref().map(Login::as_str);
    let (rate, graphql) = (rate_of(login), rate_of(login.map(meter::graphql).as_deref()));
    let resources = json!({"core": rate, "search": rate, "graphql": graphql});
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
