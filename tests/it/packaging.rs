//! The packages that run Hob elsewhere: the images, the unit for systemd, the Compose file and the manifests for
//! Kubernetes.

use std::{collections::BTreeMap, fs, path::PathBuf};

use hob_process::{ProcessError, Program};
use tokio_util::sync::CancellationToken;
use yaml_rust2::{Yaml, YamlLoader};

use crate::harness::skipped;

fn text(path: &str) -> String {
    fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The values of each key of the unit.
fn unit() -> BTreeMap<String, Vec<String>> {
    let text = text("packaging/hob.service");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '['])) {
        let (key, value) = line.split_once('=').unwrap();
        found.entry(key.to_owned()).or_default().push(value.to_owned());
    }
    found
}

#[test]
fn the_unit_gives_secrets_as_files_and_hides_other_processes() {
    let unit = unit();
    for (key, value) in [
        ("ProtectProc", "invisible"),
        ("OOMPolicy", "continue"),
        ("Delegate", "yes"),
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("CapabilityBoundingSet", ""),
        ("KillMode", "mixed"),
        ("Restart", "always"),
        ("RestartPreventExitStatus", "2 3 4 6"),
    ] {
        assert_eq!(unit[key], [value], "{key}");
    }
    assert!(unit["LoadCredential"].iter().any(|value| value.starts_with("github-token:")), "{unit:?}");
    let variables = unit["Environment"].join(" ");
    assert!(variables.contains("GITHUB_TOKEN_FILE=%d/github-token"), "{variables}");
    for variable in variables.split(' ').filter(|variable| variable.contains("TOKEN") || variable.contains("KEY")) {
        assert!(variable.split_once('=').unwrap().0.ends_with("_FILE"), "{variable}");
    }
    // These keep bubblewrap from mounting its own `/proc`, and just-in-time compilers from running.
    for key in ["ProtectKernelTunables", "ProtectKernelLogs", "ProcSubset", "MemoryDenyWriteExecute", "EnvironmentFile"]
    {
        assert!(!unit.contains_key(key), "{key}");
    }
    // Hob ends by itself in 4.5 s; see `run.rs`.
    assert!(unit["TimeoutStopSec"][0].parse::<u32>().unwrap() > 5);
}

/// Each of these was seen to keep bubblewrap from making a box.
#[test]
fn the_unit_lets_bubblewrap_make_a_box_and_nothing_else() {
    let unit = unit();
    let words = |key: &str| unit[key][0].split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words("RestrictNamespaces"), ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"]);
    assert_eq!(words("RestrictAddressFamilies"), ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"]);
    assert!(!unit.contains_key("ProtectHostname") && !unit.contains_key("SystemCallFilter"), "{unit:?}");
}

/// The output of `systemd-analyze verify` for the unit after `change`; `None` if it is not installed.
async fn verdict(change: impl Fn(&str) -> String) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hob.service");
    // Hob is not installed here; that the program is there is all that would be missing.
    fs::write(&path, change(&text("packaging/hob.service").replace("/usr/local/bin/hob", "/bin/true"))).unwrap();
    let verify = Program::of_hob("systemd-analyze", &hob_config::child_environment());
    let path = path.to_str().unwrap();
    match verify.args(["verify", "--man=no", path]).run(&CancellationToken::new()).await {
        Ok(finished) => Some(finished.stdout.text() + &finished.stderr.text()),
        Err(ProcessError::Start { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn systemd_understands_the_unit() {
    let Some(says) = verdict(str::to_owned).await else {
        return skipped("systemd is not installed, so the unit was not verified");
    };
    assert_eq!(says, "");
    // It always exits with 0, so its output has to be read.
    let says = verdict(|unit| unit.replace("OOMPolicy=continue", "OOMPolicy=perhaps")).await.unwrap();
    assert!(says.contains("perhaps"), "{says}");
}

/// The objects of a file for Kubernetes, by kind and name.
fn objects(file: &str) -> BTreeMap<(String, String), Yaml> {
    let objects = YamlLoader::load_from_str(&text(&format!("packaging/kubernetes/{file}"))).unwrap();
    let of = |one: Yaml| {
        let key = [&one["kind"], &one["metadata"]["name"]].map(|text| text.as_str().unwrap().to_owned());
        (key.into(), one)
    };
    objects.into_iter().map(of).collect()
}

fn object(file: &str, kind: &str, name: &str) -> Yaml {
    objects(file).remove(&(kind.to_owned(), name.to_owned())).unwrap()
}

/// Holds a pod to having no rights, secrets as files, and a size for each place where it writes.
fn has_no_rights(pod: &Yaml) {
    let container = &pod["containers"][0];
    assert_eq!(pod["enableServiceLinks"].as_bool(), Some(false));
    let rights = &pod["securityContext"];
    assert_eq!((rights["runAsNonRoot"].as_bool(), rights["runAsUser"].as_i64()), (Some(true), Some(10001)));
    assert_eq!(rights["seccompProfile"]["type"].as_str(), Some("RuntimeDefault"));
    let rights = &container["securityContext"];
    assert_eq!(rights["allowPrivilegeEscalation"].as_bool(), Some(false));
    assert_eq!(rights["readOnlyRootFilesystem"].as_bool(), Some(true));
    assert_eq!(rights["capabilities"]["drop"][0].as_str(), Some("ALL"));
    has_secrets_as_files_and_sizes(pod);
}

/// What Hob leaves to the file of a Job.
fn has_secrets_as_files_and_sizes(pod: &Yaml) {
    let container = &pod["containers"][0];
    for limit in ["cpu", "memory", "ephemeral-storage"] {
        assert!(container["resources"]["limits"][limit].as_str().is_some(), "{limit}");
    }
    assert!(container["image"].as_str().unwrap().contains("@sha256:"));
    let is_secret = |variable: &&Yaml| !["HOB_LOG", "GITHUB_API_URL"].contains(&variable["name"].as_str().unwrap());
    for variable in container["env"].as_vec().unwrap().iter().filter(is_secret) {
        assert!(variable["name"].as_str().unwrap().ends_with("_FILE"), "{variable:?}");
        assert!(variable["value"].as_str().unwrap().starts_with("/run/secrets/hob/"), "{variable:?}");
    }
    // Nothing but volumes can be written, and each has a size.
    for volume in pod["volumes"].as_vec().unwrap().iter().filter(|volume| !volume["emptyDir"].is_badvalue()) {
        assert!(volume["emptyDir"]["sizeLimit"].as_str().is_some(), "{volume:?}");
    }
}

/// The keys of the secret that a pod has.
fn secrets(pod: &Yaml) -> Vec<&str> {
    let secret = pod["volumes"].as_vec().unwrap().iter().find(|volume| !volume["secret"].is_badvalue()).unwrap();
    secret["secret"]["items"].as_vec().unwrap().iter().map(|item| item["key"].as_str().unwrap()).collect()
}

/// The pods that a policy is for, and those that it lets in or out, by one label each, with the port.
fn way<'a>(policy: &'a Yaml, direction: &str, end: &str) -> [Option<&'a str>; 3] {
    let rule =
        policy["spec"][direction].as_vec().unwrap().iter().find(|rule| rule[end][0]["podSelector"].as_hash().is_some());
    let label = |selector: &'a Yaml| selector["matchLabels"].as_hash().and_then(|all| all.values().next()?.as_str());
    let port =
        rule.and_then(|rule| rule["ports"][0]["port"].as_i64()).map(|port| if port == 4620 { "4620" } else { "" });
    [label(&policy["spec"]["podSelector"]), rule.and_then(|rule| label(&rule[end][0]["podSelector"])), port]
}

/// Attack corpus L163: no file gives a pod in which an agent runs a token of the forge.
#[test]
fn pods_of_jobs_have_no_token_of_the_forge_and_reach_the_dispatcher() {
    let job = &YamlLoader::load_from_str(&text("packaging/kubernetes/job.yaml")).unwrap()[0];
    let pod = &job["spec"]["template"]["spec"];
    assert_eq!(secrets(pod), ["anthropic-api-key"]);
    let service = object("dispatcher.yaml", "Service", "hob-dispatcher");
    let port = service["spec"]["ports"][0]["port"].as_i64().unwrap();
    let variables = pod["containers"][0]["env"].as_vec().unwrap();
    let api = variables.iter().find(|variable| variable["name"].as_str() == Some("GITHUB_API_URL")).unwrap();
    assert_eq!(api["value"].as_str().unwrap(), format!("http://hob-dispatcher:{port}/forge"));
    let deployment = object("dispatcher.yaml", "Deployment", "hob-dispatcher");
    let (label, selector) = ("app.kubernetes.io/name", &service["spec"]["selector"]);
    assert_eq!(deployment["spec"]["template"]["metadata"]["labels"][label], selector[label]);
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["args"][4].as_str().unwrap(), format!("0.0.0.0:{port}"));
    let (job, dispatcher) = (Some("hob"), Some("hob-dispatcher"));
    let out = object("network-policy.yaml", "NetworkPolicy", "hob-job");
    assert_eq!(way(&out, "egress", "to"), [job, dispatcher, Some("4620")]);
    let into = object("network-policy.yaml", "NetworkPolicy", "hob-dispatcher");
    assert_eq!(way(&into, "ingress", "from"), [dispatcher, job, Some("4620")]);
}

#[test]
fn the_dispatcher_has_no_rights_but_its_role_and_no_key_of_a_model() {
    let deployment = object("dispatcher.yaml", "Deployment", "hob-dispatcher");
    let pod = &deployment["spec"]["template"]["spec"];
    has_no_rights(pod);
    assert_eq!(pod["serviceAccountName"].as_str(), Some("hob-dispatcher"));
    assert_eq!(secrets(pod), ["github-token", "listen-token"]);
    let account = &object("rbac.yaml", "RoleBinding", "hob-dispatcher")["subjects"][0];
    assert_eq!((account["kind"].as_str(), account["name"].as_str()), (Some("ServiceAccount"), Some("hob-dispatcher")));
}

/// `hob-kubernetes` holds the Job to what Hob fills in, and the role to what it asks for.
#[test]
fn pods_in_which_agents_run_have_a_kernel_of_their_own_and_no_token_of_the_cluster() {
    let job = &YamlLoader::load_from_str(&text("packaging/kubernetes/job.yaml")).unwrap()[0];
    let pod = &job["spec"]["template"]["spec"];
    assert!(pod["runtimeClassName"].as_str().is_some());
    has_secrets_as_files_and_sizes(pod);
    let scaled = object("keda.yaml", "ScaledJob", "hob");
    let pod = &scaled["spec"]["jobTargetRef"]["template"]["spec"];
    assert!(pod["runtimeClassName"].as_str().is_some());
    assert_eq!(pod["automountServiceAccountToken"].as_bool(), Some(false));
    has_no_rights(pod);
    let arguments: Vec<_> =
        pod["containers"][0]["args"].as_vec().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert!(arguments.windows(2).any(|pair| pair == ["--limit", "1"]) && arguments.contains(&"--once"));
}

#[test]
fn the_network_policy_lets_out_names_and_https_to_the_internet_alone() {
    let spec = &object("network-policy.yaml", "NetworkPolicy", "hob")["spec"];
    assert_eq!(spec["podSelector"].as_hash().map(|all| all.len()), Some(0), "it holds for every pod");
    assert_eq!(spec["ingress"].as_vec().map(Vec::len), Some(0));
    let egress = spec["egress"].as_vec().unwrap();
    let ports = |rule: &Yaml| -> Vec<i64> {
        rule["ports"].as_vec().unwrap().iter().map(|port| port["port"].as_i64().unwrap()).collect()
    };
    assert_eq!(egress.iter().map(ports).collect::<Vec<_>>(), [vec![53, 53], vec![443]]);
    let outside = &egress[1]["to"][0]["ipBlock"]["except"];
    for private in ["10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"] {
        assert!(outside.as_vec().unwrap().iter().any(|block| block.as_str() == Some(private)), "{private}");
    }
}

#[test]
fn hob_reads_the_settings_of_the_dispatcher_and_its_jobs() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("packaging/kubernetes/hob.toml");
    let settings = hob_config::Settings::load(Some(&path), [].into(), &[]).unwrap();
    assert_eq!((settings.sandbox.memory, settings.executor.job.as_str()), (4 << 30, "/etc/hob/job.yaml"));
}

/// The `FROM` lines of a file that images are built from, each of which has to be pinned.
fn bases(path: &str) -> Vec<String> {
    let text = text(path);
    let bases: Vec<String> = text.lines().filter_map(|line| line.strip_prefix("FROM ")).map(str::to_owned).collect();
    for base in &bases {
        let digest = base.split_once("@sha256:").unwrap_or_else(|| panic!("{base} has no digest")).1;
        assert_eq!(digest.split(' ').next().unwrap().len(), 64, "{base}");
    }
    assert!(text.lines().any(|line| line == "USER 10001:10001"), "{path}");
    assert!(
        text.contains(" && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git \\\n"),
        "{path}"
    );
    bases
}

#[test]
fn the_image_of_a_release_compiles_nothing_and_says_whether_it_is_well() {
    let release = text("Containerfile.release");
    assert_eq!(bases("Containerfile.release").len(), 1);
    for tool in ["cargo", "rustup", "curl", "wget"] {
        let used = release.lines().filter(|line| !line.starts_with('#')).any(|line| line.contains(tool));
        assert!(!used, "{tool}");
    }
    assert!(release.lines().any(|line| line.starts_with("HEALTHCHECK ")));
    // The two images differ in the source of the program, not in what it runs on.
    assert_eq!(bases("Dockerfile").last(), bases("Containerfile.release").last());
}

/// The demands of `docs/security.md` on every way to run Hob.
#[test]
fn the_compose_file_gives_no_rights_and_secrets_as_files() {
    let compose = &YamlLoader::load_from_str(&text("packaging/compose.yaml")).unwrap()[0];
    let hob = &compose["services"]["hob"];
    assert!(hob["image"].as_str().unwrap().contains("@sha256:"));
    assert_eq!(hob["user"].as_str(), Some("10001:10001"));
    assert_eq!(hob["read_only"].as_bool(), Some(true));
    assert_eq!(hob["cap_drop"].as_vec().unwrap(), &[Yaml::String("ALL".into())]);
    assert_eq!(hob["security_opt"].as_vec().unwrap(), &[Yaml::String("no-new-privileges:true".into())]);
    for key in
        ["cap_add", "privileged", "pid", "ipc", "userns_mode", "network_mode", "devices", "ports", "init", "env_file"]
    {
        assert!(hob[key].is_badvalue(), "{key}");
    }
    for limit in ["mem_limit", "pids_limit"] {
        assert!(!hob[limit].is_badvalue(), "{limit}");
    }
    // Writable paths beside the volume are in memory, and have a size.
    let in_memory: Vec<_> = hob["tmpfs"].as_vec().unwrap().iter().map(|mount| mount.as_str().unwrap()).collect();
    assert!(in_memory.iter().any(|mount| mount.starts_with("/tmp:")), "{in_memory:?}");
    assert!(in_memory.iter().all(|mount| mount.contains("size=")), "{in_memory:?}");
    for volume in hob["volumes"].as_vec().unwrap() {
        let state = volume.as_str() == Some("state:/var/lib/hob");
        assert!(state || volume["read_only"].as_bool() == Some(true), "{volume:?}");
        assert!(!format!("{volume:?}").contains("docker.sock"), "{volume:?}");
    }
    let is_secret = |(variable, _): &(&Yaml, &Yaml)| variable.as_str() != Some("HOB_LOG");
    for (variable, value) in hob["environment"].as_hash().unwrap().iter().filter(is_secret) {
        let (variable, value) = (variable.as_str().unwrap(), value.as_str().unwrap());
        let secret =
            value.strip_prefix("/run/secrets/").unwrap_or_else(|| panic!("{variable} is not the file of a secret"));
        assert!(variable.ends_with("_FILE"), "{variable}");
        assert!(hob["secrets"].as_vec().unwrap().iter().any(|given| given.as_str() == Some(secret)), "{secret}");
        assert!(compose["secrets"][secret]["file"].as_str().is_some(), "{secret}");
    }
    // Hob ends by itself in 4.5 s; see `run.rs`.
    assert_eq!(hob["stop_grace_period"].as_str(), Some("15s"));
}

/// Attack corpus J121: no document leads to a token in the environment of a container's first process.
#[test]
fn images_are_pinned_and_no_container_gets_a_token_as_a_variable() {
    assert_eq!(bases("Dockerfile").len(), 2);
    let documents = ["README.md", "docs/actions.md", "docs/operate.md", "docs/deploy.md", "docs/design/releasing.md"];
    let files = [
        "Dockerfile",
        "Containerfile.release",
        "packaging/compose.yaml",
        "packaging/kubernetes/dispatcher.yaml",
        "packaging/kubernetes/job.yaml",
        "packaging/kubernetes/keda.yaml",
    ];
    for path in documents.into_iter().chain(files) {
        let text = text(path);
        for option in ["--env GITHUB_TOKEN", "--env ANTHROPIC_API_KEY ", "-e GITHUB_TOKEN", "--init "] {
            assert!(!text.replace("_TOKEN_FILE", "").contains(option), "{path} has `{option}`");
        }
    }
}
