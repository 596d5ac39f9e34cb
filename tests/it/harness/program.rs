//! The real binary, with an environment of its own.

use std::collections::BTreeMap;

use hob::process::{Environment, Exit, Program};
use tokio_util::sync::CancellationToken;

use super::World;

/// How the program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// Runs `hob` on this world's forge and repository with the bot's token.
    pub(crate) async fn hob(&self, args: &[&str]) -> Ended {
        self.hob_with(args, &[]).await
    }

    /// Runs `hob`; a variable of `changes` with an empty value counts as not set.
    pub(crate) async fn hob_with(&self, args: &[&str], changes: &[(&str, &str)]) -> Ended {
        let mut environment: BTreeMap<&str, String> = BTreeMap::new();
        environment.insert("GITHUB_TOKEN", "token-of-hob".to_owned());
        environment.insert("GITHUB_REPOSITORY", "acme/site".to_owned());
        environment.insert("GITHUB_API_URL", self.forge.api_url());
        environment.insert("GITHUB_SERVER_URL", self.forge.server_url());
        environment.insert("HOME", self.dir().display().to_string());
        environment.extend(changes.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let mut inherited = hob::config::child_environment();
        inherited.retain(|name, _| name == "PATH");
        let environment: Environment =
            inherited.into_iter().chain(environment.into_iter().map(|(k, v)| (k.into(), v.into()))).collect();
        let config = self.dir().join("settings.toml");
        std::fs::write(&config, toml::to_string(&Tables::of(self)).unwrap()).unwrap();
        let mut program = Program::new(env!("CARGO_BIN_EXE_hob"), &environment).dir(self.dir());
        if !args.contains(&"--config") {
            program = program.arg("--config").arg(config);
        }
        if !args.contains(&"--state-dir") {
            program = program.arg("--state-dir").arg(self.state_dir("program"));
        }
        for (key, value) in self.flags() {
            program = program.arg("--set").arg(format!("{key}={value}"));
        }
        let finished = program.args(args).run(&CancellationToken::new()).await.unwrap();
        let Exit::Code(code) = finished.exit else { panic!("hob ended by {:?}", finished.exit) };
        Ended { code, stdout: finished.stdout.text(), stderr: finished.stderr.text() }
    }
}

/// The tables of a settings file that flags cannot say.
#[derive(serde::Serialize)]
struct Tables<'a> {
    agents: &'a BTreeMap<String, hob::config::AgentSettings>,
    recipes: &'a BTreeMap<String, hob::config::RecipeSettings>,
}

impl<'a> Tables<'a> {
    fn of(world: &'a World) -> Self {
        Self { agents: &world.settings.agents, recipes: &world.settings.recipes }
    }
}
