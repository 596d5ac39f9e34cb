//! Accounts over the wire.

use serde_json::{Value, json};

use super::{
    super::{state::Accounts, users::AccountKind},
    node_id, time,
};

/// The addresses of an account below its own, with their field names.
const ADDRESSES: [(&str, &str); 10] = [
    ("events_url", "/events{/privacy}"),
    ("followers_url", "/followers"),
    ("following_url", "/following{/other_user}"),
    ("gists_url", "/gists{/gist_id}"),
    ("organizations_url", "/orgs"),
    ("received_events_url", "/received_events"),
    ("repos_url", "/repos"),
    ("starred_url", "/starred{/owner}{/repo}"),
    ("subscriptions_url", "/subscriptions"),
    ("url", ""),
];

/// The account of this name as a `simple-user`; `null` if there is none.
pub(in super::super) fn simple_account(server: &str, accounts: &Accounts, login: &str) -> Value {
    let Some(account) = accounts.get(login) else { return Value::Null };
    let login = account.login.as_str();
    let part: String = url::form_urlencoded::byte_serialize(login.as_bytes()).collect();
    let page = match account.kind {
        AccountKind::Bot => format!("apps/{}", account.login.slug()),
        AccountKind::User => login.to_owned(),
    };
    let mut user = json!({
        "login": login,
        "id": account.id,
        "node_id": node_id(account.kind.name(), account.id),
        "avatar_url": format!("{server}/avatars/{}", account.id),
        "gravatar_id": "",
        "html_url": format!("{server}/{page}"),
        "type": account.kind.name(),
        "user_view_type": "public",
        "site_admin": false,
    });
    if let Value::Object(fields) = &mut user {
        for (name, below) in ADDRESSES {
            fields.insert(name.to_owned(), json!(format!("{server}/api/v3/users/{part}{below}")));
        }
    }
    user
}

/// The account of this name as everyone sees it on its own page.
pub(in super::super) fn public_account(server: &str, accounts: &Accounts, login: &str) -> Value {
    let mut user = simple_account(server, accounts, login);
    let (Value::Object(fields), Some(account)) = (&mut user, accounts.get(login)) else { return user };
    for absent in ["bio", "blog", "company", "email", "hireable", "location"] {
        fields.insert(absent.to_owned(), Value::Null);
    }
    for zero in ["followers", "following", "public_gists", "public_repos"] {
        fields.insert(zero.to_owned(), json!(0));
    }
    fields.insert("name".to_owned(), json!(account.login));
    fields.insert("created_at".to_owned(), time(account.created_at));
    fields.insert("updated_at".to_owned(), time(account.created_at));
    user
}

/// The account of this name as it sees itself.
pub(in super::super) fn private_account(server: &str, accounts: &Accounts, login: &str) -> Value {
    let mut user = public_account(server, accounts, login);
    if let Value::Object(fields) = &mut user {
        for zero in ["collaborators", "disk_usage", "owned_private_repos", "private_gists", "total_private_repos"] {
            fields.insert(zero.to_owned(), json!(0));
        }
        fields.insert("two_factor_authentication".to_owned(), json!(false));
        fields.insert("user_view_type".to_owned(), json!("private"));
    }
    user
}
