//! podman or docker, which make the images of tasks.
//!
//! - Flow: [`Engine::find`] asks which of them answers; [`Engine::image`] builds or pulls an image, and its files are exported
//!   ([`Engine::export`]). No container of theirs is ever started: Hob's own boxes have these files as their root.
//! - Guarantees: a container that files are exported from is removed, also after an error; what a killed Hob left of them is removed later.
//! - Caveats: the `RUN` lines of a Dockerfile run in the engine's own isolation, with the network that it gives them. The images stay in
//!   its store, as `hob-eval:TASK`, so that a later trial builds nothing.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use hob_process::{Environment, Exit, Program};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::EvalError;

/// Those that are known, the one first that needs no service.
const ENGINES: [&str; 2] = ["podman", "docker"];
/// The label of containers, and the repository of images.
const MARK: &str = "hob-eval";
/// How long an engine may take to answer, and to copy the files of an image.
const ANSWER_TIME: Duration = Duration::from_secs(30);
const COPY_TIME: Duration = Duration::from_secs(1_800);
/// After which time a container was left: it is there for as long as a copy takes.
const LEFT_AFTER: &str = "until=1h";
/// Bytes of its output that are kept, and characters that an error quotes.
const OUTPUT: usize = 1 << 20;
const TAIL: usize = 300;
/// The letters of a tag, at most.
const TAG_MAX: usize = 120;
/// Users that are root.
pub(crate) const ROOT: [&str; 5] = ["", "0", "root", "0:0", "root:root"];

/// Containers of this process.
static NUMBER: AtomicU32 = AtomicU32::new(1);

/// An engine that answers.
#[derive(Debug, Clone)]
pub struct Engine {
    program: &'static str,
    environment: Environment,
}

/// Where an image is from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// A folder with a Dockerfile.
    Built(PathBuf),
    /// Its name.
    Pulled(String),
}

/// The image that a task wants.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) source: Source,
    /// How long it may take to build or pull.
    pub(crate) time: Duration,
    /// Why the task is not tried without it.
    pub(crate) why: String,
    /// Whether a machine that has what the image has can take its place.
    pub(crate) is_built: bool,
    /// The folder that the task names in place of the image's own.
    pub(crate) workdir: Option<PathBuf>,
}

/// An image that is there.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) id: String,
    /// The folder that programs start in; `/` if the image names none.
    pub(crate) workdir: PathBuf,
    /// Its variables, always with a `PATH`.
    pub(crate) environment: BTreeMap<String, String>,
}

/// What an engine says of an image.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Config {
    #[serde(default)]
    env: Option<Vec<String>>,
    #[serde(default)]
    working_dir: Option<String>,
    #[serde(default)]
    user: Option<String>,
}

impl Engine {
    /// The first one on the `PATH` that answers; `None` if none does.
    pub async fn find(environment: &Environment) -> Option<Self> {
        for program in ENGINES {
            let engine = Self { program, environment: environment.clone() };
            if engine.run(&["info"], ANSWER_TIME, &CancellationToken::new()).await.is_ok() {
                engine.remove_left().await;
                return Some(engine);
            }
        }
        None
    }

    /// Builds or pulls an image; `place` is a folder for a file that says which.
    pub(crate) async fn image(
        &self,
        task: &str,
        wanted: &Wanted,
        place: &Path,
        cancel: &CancellationToken,
    ) -> Result<Image, EvalError> {
        let id = match &wanted.source {
            Source::Built(context) => {
                // The tag is for people: the task of another folder may have taken it meanwhile.
                let (tag, built) = (format!("{MARK}:{}", tag(task)), place.join("image.id"));
                let (file, context) = (built.to_string_lossy(), context.to_string_lossy());
                self.run(&["build", "--iidfile", &file, "--tag", &tag, &context], wanted.time, cancel).await?;
                let id = std::fs::read_to_string(&built).map_err(EvalError::at("read", &built))?;
                id.trim().to_owned()
            }
            Source::Pulled(name) => {
                if self.run(&["image", "inspect", name], ANSWER_TIME, cancel).await.is_err() {
                    self.run(&["pull", name], wanted.time, cancel).await?;
                }
                name.clone()
            }
        };
        let told = self.run(&["image", "inspect", "--format", "{{json .Config}}", &id], ANSWER_TIME, cancel).await?;
        let unread = |error: serde_json::Error| self.error("image inspect", error.to_string());
        let config: Config = serde_json::from_str(told.trim()).map_err(unread)?;
        let user = config.user.unwrap_or_default();
        if !ROOT.contains(&user.as_str()) {
            let why = format!("the image runs as the user `{user}`, and nothing here runs as another user than root");
            return Err(self.error("image inspect", why));
        }
        let pairs = config.env.unwrap_or_default();
        let pairs = pairs.iter().filter_map(|pair| pair.split_once('='));
        let usual = ("PATH".to_owned(), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned());
        let environment =
            [usual].into_iter().chain(pairs.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect();
        let workdir = config.working_dir.filter(|path| !path.is_empty()).unwrap_or_else(|| "/".to_owned());
        Ok(Image { id, workdir: workdir.into(), environment })
    }

    /// Writes the files of an image below the folder `root`; `tar` is a file that is there for a while.
    pub(crate) async fn export(
        &self,
        image: &str,
        root: &Path,
        tar: &Path,
        cancel: &CancellationToken,
    ) -> Result<(), EvalError> {
        let name = format!("{MARK}-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        // It is not started, and so its command need not be there.
        self.run(&["create", "--name", &name, "--label", MARK, image, "/bin/true"], ANSWER_TIME, cancel).await?;
        let exported = self.run(&["export", "--output", &tar.to_string_lossy(), &name], COPY_TIME, cancel).await;
        let removed = self.run(&["rm", "--force", &name], ANSWER_TIME, &CancellationToken::new()).await;
        exported.and(removed)?;
        // All of it is its user's, who is root in a box. Devices cannot be made, and a box has its own.
        let unpack = Program::of_hob("tar", &self.environment)
            .args(["--extract", "--no-same-owner", "--anchored", "--exclude=dev/*", "--exclude=./dev/*", "--file"])
            .arg(tar)
            .arg("--directory")
            .arg(root);
        let ended = unpack.deadline(COPY_TIME).run(cancel).await?;
        std::fs::remove_file(tar).map_err(EvalError::at("remove", tar))?;
        match ended.exit {
            Exit::Code(0) => Ok(()),
            exit => Err(self.error("export", format!("tar: {exit}: {}", tail(&ended.stderr.text())))),
        }
    }

    /// Removes the containers of a Hob that was killed. If that fails, the next start tries it again.
    async fn remove_left(&self) {
        let filter = format!("label={MARK}");
        let prune = ["container", "prune", "--force", "--filter", &filter, "--filter", LEFT_AFTER];
        self.run(&prune, ANSWER_TIME, &CancellationToken::new()).await.ok();
    }

    /// Runs it; what it wrote to standard output.
    async fn run(&self, words: &[&str], time: Duration, cancel: &CancellationToken) -> Result<String, EvalError> {
        let program = Program::of_hob(self.program, &self.environment).args(words).deadline(time).output_cap(OUTPUT);
        let ended = program.run(cancel).await?;
        match ended.exit {
            Exit::Code(0) => Ok(ended.stdout.text()),
            exit => Err(self.error(words[0], format!("{exit}: {}", tail(&ended.stderr.text())))),
        }
    }

    fn error(&self, command: &str, said: String) -> EvalError {
        EvalError::Engine { program: self.program, command: command.to_owned(), said }
    }
}

/// The name of a task as a tag.
fn tag(task: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
    let tag: String = task.chars().map(plain).take(TAG_MAX).collect();
    // It does not begin with a dash or a dot.
    tag.replacen(['-', '.'], "_", usize::from(tag.starts_with(['-', '.'])))
}

/// The end of an output, which says what was wrong.
fn tail(output: &str) -> String {
    let line = output.split_whitespace().collect::<Vec<_>>().join(" ");
    let from = line.chars().count().saturating_sub(TAIL);
    line.chars().skip(from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_one_for_any_name_of_a_task() {
        assert_eq!(["a+b.c-D_1", "-x"].map(tag), ["a_b.c-D_1", "_x"]);
        assert_eq!(tag(&"n".repeat(200)).len(), TAG_MAX);
    }
}
