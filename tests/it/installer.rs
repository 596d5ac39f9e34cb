//! The installer and the action's step that fetches a release: which archive they take, from a server that this test runs.

use std::{fs, path::PathBuf};

use axum::{
    Router,
    extract::{Path, State},
    response::Redirect,
    routing::get,
};
use hob_process::{Environment, Finished, Program};
use tokio_util::sync::CancellationToken;

use crate::harness::executable;

/// Releases in a folder, their server, and the folders of the jobs that install them.
struct Releases {
    place: tempfile::TempDir,
    /// The addresses of releases begin with it.
    base: String,
}

impl Releases {
    /// Serves what `publish` puts there; `newest` is what `latest` leads to.
    async fn with_newest(newest: &'static str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/download", listener.local_addr().unwrap());
        let file = async |State(folder): State<PathBuf>, Path((tag, file)): Path<(String, String)>| {
            fs::read(folder.join(tag).join(file)).map_err(|_| axum::http::StatusCode::NOT_FOUND)
        };
        let latest = get(move || async move { Redirect::to(&format!("/tag/v{newest}")) });
        let router = Router::new().route("/download/{tag}/{file}", get(file)).route("/latest", latest);
        let router = router.route("/tag/{tag}", get(async || "a page")).with_state(place.path().to_owned());
        tokio::spawn(async move { axum::serve(listener, router).await });
        for folder in ["cache", "temp", "home", "tools"] {
            fs::create_dir(place.path().join(folder)).unwrap();
        }
        Self { place, base }
    }

    fn at(&self, path: &str) -> String {
        self.place.path().join(path).display().to_string()
    }

    /// Runs words of a shell, with the jobs' folders.
    async fn sh(&self, words: &str, more: &[(&str, &str)]) -> Finished {
        let of_all = [
            ("PATH", format!("{}:/usr/bin:/bin", self.at("tools"))),
            ("HOME", self.at("home")),
            ("RUNNER_TEMP", self.at("temp")),
            ("RUNNER_TOOL_CACHE", self.at("cache")),
            ("GITHUB_OUTPUT", self.at("output")),
        ];
        let mut variables: Environment = of_all.map(|(name, value)| (name.into(), value.into())).into();
        variables.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
        let program = Program::of_hob("sh", &variables).args(["-c", words]).dir(self.place.path());
        program.run(&CancellationToken::new()).await.unwrap()
    }

    /// The program of a release says its version and `remark`.
    async fn publish(&self, version: &str, remark: &str) {
        let name = name(version);
        let words = format!(
            "mkdir -p v{version}/{name}; cd v{version}; printf '#!/bin/sh\necho hob {version} # {remark}\n' > {name}/hob
             chmod 755 {name}/hob; tar -czf {name}.tar.gz {name}; sha256sum {name}.tar.gz > SHA256SUMS"
        );
        assert!(self.sh(&words, &[]).await.exit.is_success());
    }

    /// What the action's step said, and the program that it installed last.
    async fn by_action(&self, version: &str) -> Said {
        let script = concat!("exec bash '", env!("CARGO_MANIFEST_DIR"), "/.github/actions/hob/install.sh'");
        let ended = self.sh(script, &[("HOB_VERSION", version), ("HOB_BASE_URL", &self.base)]).await;
        let output = fs::read_to_string(self.at("output")).unwrap_or_default();
        let folder = output.lines().last().and_then(|line| line.strip_prefix("folder="));
        Said::of(&ended, folder.map(|folder| PathBuf::from(folder).join("hob")))
    }

    /// What the installer said, and the program in the home.
    async fn by_installer(&self, arguments: &str, variables: &[(&str, &str)]) -> Said {
        let script = format!("exec sh '{}/install.sh' {arguments}", env!("CARGO_MANIFEST_DIR"));
        Said::of(&self.sh(&script, variables).await, Some(self.place.path().join("home/.local/bin/hob")))
    }
}

struct Said {
    succeeded: bool,
    text: String,
    program: String,
}

impl Said {
    fn of(ended: &Finished, program: Option<PathBuf>) -> Self {
        let program = program.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        Self { succeeded: ended.exit.is_success(), text: ended.stdout.text() + &ended.stderr.text(), program }
    }
}

fn name(version: &str) -> String {
    format!("hob-{version}-{}-unknown-linux-musl", std::env::consts::ARCH)
}

/// Attack corpus K144: an earlier job on the same machine has left a program, with its digest, where the action keeps
/// releases.
#[tokio::test]
async fn the_action_takes_no_archive_that_an_earlier_job_left() {
    let releases = Releases::with_newest("1.0.0").await;
    releases.publish("1.0.0", "of the job").await;
    let words = format!(
        "mkdir -p cache/hob/1.0.0/{machine}; mv v1.0.0/{name}.tar.gz cache/hob/1.0.0/{machine}/
         mv v1.0.0/SHA256SUMS cache/hob/1.0.0/{machine}/{name}.tar.gz.sha256",
        machine = std::env::consts::ARCH,
        name = name("1.0.0")
    );
    assert!(releases.sh(&words, &[]).await.exit.is_success());
    releases.publish("1.0.0", "of the release").await;
    for told in ["was downloaded", "is on this machine already"] {
        let said = releases.by_action("1.0.0").await;
        assert!(said.text.contains(told), "{}", said.text);
        assert!(said.program.contains("of the release"), "{told}: {}", said.program);
    }
}

/// Attack corpus K153: the address of the newest release leads to an old one, whose faults are known.
#[tokio::test]
async fn the_newest_release_takes_nobody_back_unless_its_version_is_named() {
    let releases = Releases::with_newest("0.0.9").await;
    for version in ["0.0.9", "0.1.0"] {
        releases.publish(version, "").await;
    }
    let from = format!("--base-url {}", releases.base);
    assert!(releases.by_installer(&format!("{from} --version 0.1.0"), &[]).await.succeeded);
    let refused = releases.by_installer(&from, &[]).await;
    let sentence =
        "the newest release, 0.0.9, is older than 0.1.0, which is installed; to go back, name it with --version";
    assert!(!refused.succeeded && refused.text.contains(sentence), "{}", refused.text);
    assert!(refused.program.contains("hob 0.1.0"), "{}", refused.program);
    let named = releases.by_installer(&format!("{from} --version 0.0.9"), &[]).await;
    assert!(named.succeeded && named.program.contains("hob 0.0.9"), "{}", named.text);

    // The action has the version that it was released with.
    let refused = releases.by_action("latest").await;
    assert!(!refused.succeeded && refused.program.is_empty(), "{}", refused.text);
    assert!(refused.text.contains("to go back, set the input version to 0.0.9."), "{}", refused.text);
    let named = releases.by_action("0.0.9").await;
    assert!(named.succeeded && named.program.contains("hob 0.0.9"), "{}", named.text);
}

/// Like the real one it needs no token for the public keys, and takes an attestation that names the file's digest and the
/// release workflow.
const GH: &str = r#"#!/bin/sh
case "$2" in trusted-root) echo keys; exit ;; esac
file=$3
while [ $# -gt 0 ]; do case "$1" in --bundle) bundle=$2 ;; --signer-workflow) by=$2 ;; esac; shift; done
grep -qx "$by $(sha256sum < "$file" | cut -c 1-64)" "$bundle"
"#;

/// Attack corpus K153: archive and checksum are exchanged at the place where releases are published.
#[tokio::test]
async fn the_installer_takes_no_archive_that_the_release_workflow_did_not_build() {
    let releases = Releases::with_newest("1.0.0").await;
    releases.publish("1.0.0", "").await;
    let install = async || releases.by_installer("--version 1.0.0", &[]).await;
    // The installer asks where releases are published, and this leads it here.
    let published = r"https:\/\/github.com\/hob-worker\/hob\/releases\/download";
    let curl =
        format!("#!/usr/bin/env bash\nexec /usr/bin/curl \"${{@/#{published}/{}}}\" --proto =http\n", releases.base);
    let tool = |name: &str, text: &str| {
        executable(&releases.place.path().join("tools").join(name), text);
    };
    tool("curl", &curl);
    tool("gh", "#!/bin/sh\nexit 1\n");
    let said = install().await;
    assert!(said.succeeded && said.text.contains("Only the checksum was verified"), "{}", said.text);
    fs::remove_file(releases.at("home/.local/bin/hob")).unwrap();

    tool("gh", GH);
    let missing = install().await;
    assert!(!missing.succeeded && missing.text.contains("has no attestation.jsonl"), "{}", missing.text);
    let attested = async |workflow: &str| {
        let archive = format!("v1.0.0/{}.tar.gz", name("1.0.0"));
        let words = format!(
            "echo \"hob-worker/hob/.github/workflows/{workflow} $(sha256sum < {archive} | cut -c 1-64)\" > v1.0.0/attestation.jsonl"
        );
        assert!(releases.sh(&words, &[]).await.exit.is_success());
        install().await
    };
    let other = attested("ci.yml").await;
    assert!(!other.succeeded && other.program.is_empty(), "{}", other.text);
    assert!(other.text.contains("does not say that the release workflow of hob-worker/hob built it"), "{}", other.text);
    let said = attested("release.yml").await;
    assert!(said.succeeded && said.text.contains("by its attestation"), "{}", said.text);
}
