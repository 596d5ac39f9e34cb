//! The real binary, with its own environment.

use std::{collections::BTreeMap, os::unix::process::ExitStatusExt, time::Duration};

use hob_process::{Environment, Exit, Finished, Program};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};
use tokio_util::sync::CancellationToken;

use super::World;

/// No end takes this long unless the signal does nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// The end of the program.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The objects that `--json` wrote to standard output.
    pub(crate) fn objects(&self) -> Vec<serde_json::Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The result, after any events.
    pub(crate) fn result(&self) -> serde_json::Value {
        let result = self.objects().into_iter().rfind(|object| object["event"] == "result");
        result.unwrap_or_else(|| panic!("{self:?}"))["result"].take()
    }
}

/// The program while it runs.
pub(crate) struct Started(Child);

/// How long a command may take before it is taken for one that hangs: several times what the longest takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(300);

impl World {
    /// Runs `hob` on this world's forge and repository with the bot's token.
    pub(crate) async fn hob(&self, args: &[&str]) -> Ended {
        self.hob_with(args, &[]).await
    }

    /// Runs `hob`; a variable of `changes` with an empty value counts as not set.
    pub(crate) async fn hob_with(&self, args: &[&str], changes: &[(&str, &str)]) -> Ended {
        ended(&self.program(args, changes).run(&CancellationToken::new()).await.unwrap())
    }

    /// Runs `hob` with files limited to `blocks` of 512 bytes, as if the disk were full.
    pub(crate) async fn hob_on_a_full_disk(&self, blocks: u32, args: &[&str]) -> Ended {
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let shell = Program::of_hob("sh", &self.environment(&[])).dir(self.dir());
        let program = shell.args(["-c", &limited, env!("CARGO_BIN_EXE_hob")]).args(self.arguments(args));
        ended(&program.run(&CancellationToken::new()).await.unwrap())
    }

    /// Runs a shell script in which `"$@"` is `hob` with these arguments.
    pub(crate) async fn hob_in_shell(&self, script: &str, args: &[&str]) -> Ended {
        let shell = Program::of_hob("sh", &self.environment(&[])).dir(self.dir());
        let program = shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_hob")]).args(self.arguments(args));
        ended(&program.run(&CancellationToken::new()).await.unwrap())
    }

    /// A command of the executor whose job is `hob run ISSUE` on another machine, as far as its state is concerned.
    pub(crate) fn job_of_another_machine(&self) -> String {
        let (hob, state) = (env!("CARGO_BIN_EXE_hob"), self.state_dir("another-machine").display().to_string());
        let mut words = vec![hob.to_owned()];
        words.extend(self.arguments(&["--state-dir", &state, "run"]));
        let words: Vec<_> = words.iter().map(|word| hob_process::quoted(word)).collect();
        std::fs::write(self.dir().join("job.sh"), format!("exec {} \"$1\" --repo \"$2\"\n", words.join(" "))).unwrap();
        format!("executor.command=sh,{}/job.sh,{{issue}},{{repo}}", self.dir().display())
    }

    /// Starts `hob` and leaves it running.
    pub(crate) async fn starts_hob(&self, args: &[&str]) -> Started {
        self.starts_hob_with(args, &[]).await
    }

    /// The same with these variables.
    pub(crate) async fn starts_hob_with(&self, args: &[&str], changes: &[(&str, &str)]) -> Started {
        Started(self.program(args, changes).spawn().unwrap())
    }

    /// Starts `hob` with this file, such as a terminal, as its standard output.
    pub(crate) async fn starts_hob_to(&self, to: &str, args: &[&str]) -> Started {
        let shell = Program::of_hob("sh", &self.environment(&[])).dir(self.dir()).deadline(DEADLINE);
        let to = format!("exec \"$@\" > {}", hob_process::quoted(to));
        let program = shell.args(["-c", &to, "sh", env!("CARGO_BIN_EXE_hob")]).args(self.arguments(args));
        Started(program.spawn().unwrap())
    }

    fn program(&self, args: &[&str], changes: &[(&str, &str)]) -> Program {
        let program = Program::of_hob(env!("CARGO_BIN_EXE_hob"), &self.environment(changes)).dir(self.dir());
        program.args(self.arguments(args)).deadline(DEADLINE)
    }

    fn environment(&self, changes: &[(&str, &str)]) -> Environment {
        let mut environment: BTreeMap<&str, String> = BTreeMap::new();
        environment.insert("GITHUB_TOKEN", "token-of-hob".to_owned());
        environment.insert("GITHUB_REPOSITORY", "acme/site".to_owned());
        environment.insert("GITHUB_API_URL", self.forge.api_url());
        environment.insert("GITHUB_SERVER_URL", self.forge.server_url());
        environment.insert("HOME", self.dir().display().to_string());
        environment.extend(changes.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let mut inherited = hob_config::child_environment();
        inherited.retain(|name, _| name == "PATH");
        inherited.into_iter().chain(environment.into_iter().map(|(k, v)| (k.into(), v.into()))).collect()
    }

    /// The arguments that put the program into this world, then `args`.
    fn arguments(&self, args: &[&str]) -> Vec<String> {
        let config = self.dir().join("settings.toml");
        std::fs::write(&config, tables(self).to_string()).unwrap();
        let mut all = Vec::new();
        if !args.contains(&"--config") {
            all.extend(["--config".to_owned(), config.display().to_string()]);
        }
        if !args.contains(&"--state-dir") {
            all.extend(["--state-dir".to_owned(), self.state_dir("program").display().to_string()]);
        }
        for (key, value) in self.flags() {
            all.extend(["--set".to_owned(), format!("{key}={value}")]);
        }
        all.extend(args.iter().map(|&arg| arg.to_owned()));
        all
    }
}

fn ended(finished: &Finished) -> Ended {
    let Exit::Code(code) = finished.exit else { panic!("hob ended by {:?}", finished.exit) };
    Ended { code, stdout: finished.stdout.text(), stderr: finished.stderr.text() }
}

impl Started {
    /// Reads standard error up to the line that has `part`. What comes after it is not kept.
    pub(crate) async fn says(&mut self, part: &str) -> String {
        let mut lines = BufReader::new(self.0.stderr.take().unwrap()).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains(part) {
                // The program must be able to write on.
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                return line;
            }
        }
        panic!("the program ended without saying {part:?}");
    }

    /// Sends the signal to the program alone.
    pub(crate) fn gets(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for its end by itself.
    pub(crate) async fn ends(&mut self) {
        tokio::time::timeout(PATIENCE, self.0.wait()).await.unwrap().unwrap();
    }

    /// Sends the signal to the program alone and waits for its end. A signal's end has its number as a negative code.
    pub(crate) async fn ends_by(self, signal: Signal) -> Ended {
        self.gets(signal);
        let ended = tokio::time::timeout(PATIENCE, self.0.wait_with_output()).await;
        let output = ended
            .unwrap_or_else(|_| panic!("{signal:?} ended nothing; is it ignored here, as below `nohup`?"))
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let code = output.status.code().or_else(|| output.status.signal().map(|number| -number)).unwrap_or_default();
        Ended { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Started {
    fn pid(&self) -> Pid {
        Pid::from_raw(self.0.id().unwrap().try_into().unwrap()).unwrap()
    }

    /// Kills the program's watchdog.
    pub(crate) fn lose_the_watchdog(&self) {
        let of_this = format!("-{}-", self.pid().as_raw_nonzero());
        let is_its = |pid: &Pid| {
            let words = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            words.starts_with("child-watchdog\0") && words.contains(&of_this)
        };
        let pids =
            std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
        let watchdog = pids.filter_map(Pid::from_raw).find(is_its);
        kill_process(watchdog.unwrap(), Signal::KILL).unwrap();
    }
}

/// The tables of a settings file that flags cannot say; what is constant is below `[testing]`.
fn tables(world: &World) -> toml::Table {
    let (mut agents, mut testing) = (toml::Table::new(), toml::Table::new());
    for (name, settings) in &world.settings.agents {
        let all = toml::Table::try_from(settings).unwrap();
        let is_constant = |(key, _): &(String, toml::Value)| hob_config::is_constant(&format!("agents.{name}.{key}"));
        let (constants, own): (toml::Table, toml::Table) = all.into_iter().partition(is_constant);
        agents.insert(name.clone(), own.into());
        testing.insert(name.clone(), constants.into());
    }
    let recipes = toml::Table::try_from(&world.settings.recipes).unwrap();
    let testing = toml::Table::from_iter([("agents".to_owned(), testing.into())]);
    toml::Table::from_iter([
        ("agents".to_owned(), agents.into()),
        ("recipes".to_owned(), recipes.into()),
        ("testing".to_owned(), testing.into()),
    ])
}
