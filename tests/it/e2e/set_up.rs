//! Set-up steps of a repository: what they fetch is available to agents and checks.

use std::sync::Arc;

use github_emulator::{Fault, What, When};
use hob_domain::State;
use hob_worker::{RunLimits, run_once};
use serde_json::json;

use crate::harness::{Builder, PYTHON, World, in_virtual_time, needs};

/// A repository whose steps leave a folder that git ignores, a file that it does not, and a file in the home; each of
/// their runs is a line in `runs`. Its check needs all of it.
fn preparing(agent: &str) -> Builder {
    let steps = "mkdir -p packages/a/deps && cp lock packages/a/deps && echo x > new && echo home > \"$HOME/cache\"";
    let rules = format!(
        "setup = ['''{steps}''', 'echo ran >> {{DIR}}/runs']\nsetup_key = ['lock']\n\
         checks = ['cmp lock packages/a/deps/lock && test -f new && grep home \"$HOME/cache\"']\n"
    );
    World::with_agent(agent)
        .file("lock", "1\n")
        .file("packages/a/README.md", "A package.\n")
        .file(".gitignore", "deps/\n")
        .file(".github/hob.toml", &rules)
}

#[tokio::test]
async fn the_steps_run_once_for_what_they_depend_on_and_what_they_left_is_no_work() {
    let agent =
        "test -f packages/a/deps/lock && test ! -e new && grep -q home \"$HOME/cache\" && echo done > done-$HOB_ISSUE";
    let world = preparing(agent).start().await;
    for title in ["First", "Second"] {
        world.asks(title, "").await;
    }
    world.run().await;
    assert!(world.failures().is_empty(), "{:?}", world.failures());
    let pulls = world.pulls().await;
    assert_eq!(pulls.len(), 2);
    for pull in &pulls {
        let number = pull["number"].as_u64().unwrap();
        let files = world.look(&format!("/pulls/{number}/files")).await;
        let names: Vec<_> = files.as_array().unwrap().iter().map(|file| file["filename"].as_str().unwrap()).collect();
        assert!(matches!(names.as_slice(), [name] if name.starts_with("done-")), "{names:?}");
    }
    assert_eq!(std::fs::read_to_string(world.dir().join("runs")).unwrap(), "ran\n");
    world.finish().await;
}

#[tokio::test]
async fn work_that_changes_what_the_steps_depend_on_has_them_run_anew() {
    let world = preparing("echo 2 > lock").start().await;
    world.asks("Raise the lock", "").await;
    world.run().await;
    assert_eq!(world.pulls().await.len(), 1, "{:?}", world.failures());
    assert_eq!(std::fs::read_to_string(world.dir().join("runs")).unwrap(), "ran\nran\n");
    world.finish().await;
}

#[tokio::test]
async fn a_step_that_fails_on_the_work_goes_back_to_the_agent() {
    let rules = "setup = ['test ! -f done.txt || { echo no such package; exit 4; }']\nsetup_key = ['done.txt']\nchecks = ['true']\n";
    let world = World::with_agent("case $n in 0) echo x > done.txt;; *) rm done.txt; echo y > other.txt;; esac")
        .file(".github/hob.toml", rules)
        .start()
        .await;
    let issue = world.asks("Use the package", "").await;
    world.run().await;
    let briefs = world.briefs(issue);
    assert_eq!(briefs.len(), 2);
    assert!(briefs[1].contains("no such package"), "{}", briefs[1]);
    assert_eq!(world.pulls().await.len(), 1);
    world.finish().await;
}

/// Field note N69: nothing is paid for if something that the work needs is missing.
#[tokio::test]
async fn a_step_that_fails_on_the_base_ends_the_run_before_an_agent_starts() {
    for checks in ["checks = ['true']\n", ""] {
        let rules = format!("setup = ['echo no such registry >&2; exit 4']\n{checks}");
        let world = World::with_agent("echo done > done.txt").file(".github/hob.toml", &rules).start().await;
        let issue = world.asks("Make done.txt", "").await;
        let ended = world.hob(&["run", "--once"]).await;
        assert_eq!(ended.code, 6, "{ended:?}");
        for says in ["the set-up step `echo no such registry", "exit code 4: no such registry", "`sandbox.setup_hosts`"]
        {
            assert!(ended.stderr.contains(says), "{says}: {ended:?}");
        }
        assert!(world.briefs(issue).is_empty());
        assert_eq!(world.labels(issue).await, ["code"]);
        world.finish().await;
    }
}

/// At the pace that GitHub asks for, the writes that free an issue take seconds. Here one has to wait for 20.
#[test]
fn an_issue_that_the_worker_cannot_do_is_freed_even_if_that_takes_time() {
    in_virtual_time(Box::pin(async {
        let world = World::with_agent("echo done > done.txt").file(".github/hob.toml", "setup = ['exit 4']\n");
        let world = world.inside(&Arc::default()).start().await;
        world.forge.inject(Fault {
            method: Some("PATCH".to_owned()),
            path: "/repos/acme/site/git/refs/hob/repository".to_owned(),
            login: Some("hob".into()),
            when: When::Call(1),
            what: What::Answer {
                status: 429,
                headers: [("retry-after".to_owned(), "20".to_owned())].into(),
                message: "You have exceeded a secondary rate limit.".to_owned(),
            },
        });
        let issue = world.asks("Make done.txt", "").await;
        run_once(&world.worker("w1").await, RunLimits::default()).await.unwrap();
        let record = world.record(issue).await.unwrap();
        assert_eq!((record.state, record.lease), (State::Ready, None));
        assert_eq!(world.labels(issue).await, ["code"]);
        world.forge.heal();
        world.finish_after_faults().await;
    }));
}

/// Attack corpus J126: an agent changes its copies, what it finds of the kept set-up, and the script of the step, which
/// is a part of its work. The next issue has the result of the base's script.
#[tokio::test]
async fn what_a_run_does_to_its_copy_reaches_no_other() {
    let rules = "setup = ['sh prepare.sh']\nsetup_key = ['lock']\n\
                 checks = ['test -e done-1 || { cmp lock deps/lock && grep home \"$HOME/cache\"; }']\n";
    let honest = "mkdir -p deps && cp lock deps && echo home > \"$HOME/cache\" && . ./lib.sh\n";
    let evil = "echo evil > deps/lock; echo evil > \"$HOME/cache\"";
    let agent = format!(
        "if [ $HOB_ISSUE != 1 ]; then cmp lock deps/lock && grep -q home \"$HOME/cache\" && echo done > done.txt; exit; fi\n\
         {evil}; echo done > done-1; echo '{evil}' | tee -a prepare.sh > lib.sh\n\
         find / -path '*/prepared/*' -name cache 2>/dev/null | while read f; do echo evil > \"$f\"; done"
    );
    let world = World::with_agent(&agent)
        .file("lock", "1\n")
        .file("prepare.sh", honest)
        .file("lib.sh", "echo ran >> {DIR}/runs")
        .file(".gitignore", "deps/\n")
        .file(".github/hob.toml", rules)
        .start()
        .await;
    for title in ["First", "Second"] {
        world.asks(title, "").await;
        world.run().await;
    }
    let pulls = world.pulls().await;
    assert_eq!(pulls.len(), 2, "{:?}", world.failures());
    for pull in &pulls {
        assert!(pull["body"].as_str().unwrap().contains("**No tests**"), "{}", pull["body"]);
    }
    assert_eq!(std::fs::read_to_string(world.dir().join("runs")).unwrap(), "ran\n", "the base's script, once");
    world.finish().await;
}

/// Attack corpus K134: an issue that is never merged changes the lock file to what the base will have next, and what the
/// step's script runs. What it made is its own.
#[tokio::test]
async fn what_an_issues_commits_prepare_reaches_no_other_issue() {
    let rules =
        "setup = ['sh fetch.sh']\nsetup_key = ['lock']\nchecks = ['! grep -r evil deps \"$HOME/.gitconfig\"']\n";
    let evil = "mkdir -p deps; echo evil > deps/evil; echo '# evil' >> \"$HOME/.gitconfig\"";
    let honest = "mkdir -p deps; cp lock deps; echo ran >> {DIR}/runs";
    let script = format!(
        "case $HOB_ISSUE in 1) echo 2 > lock; cat > lib.sh <<'END'\n{evil}\nEND\n;; *) test ! -e deps/evil && echo done > done.txt;; esac"
    );
    let world = World::with_agent(&script)
        .file("lock", "1\n")
        .file("fetch.sh", ". ./lib.sh")
        .file("lib.sh", honest)
        .file(".gitignore", "deps/\n")
        .file(".github/hob.toml", rules)
        .set("limits.attempts", "1")
        .start()
        .await;
    world.asks("Raise the lock", "").await;
    world.run().await;
    // The maintainers raise it, too.
    world.pushes_onto("ann", "main", "lock", "2\n").await;
    let second = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(second).await, ["code", "in-review"], "{:?}", world.failures());
    let pulls = world.pulls().await;
    let pull = pulls.iter().find(|pull| pull["title"].as_str().unwrap().contains("Make done.txt")).unwrap();
    assert!(pull["body"].as_str().unwrap().contains("**No tests**"), "{}", pull["body"]);
    assert_eq!(std::fs::read_to_string(world.dir().join("runs")).unwrap(), "ran\nran\n", "of both bases");
    world.finish().await;
}

/// A program that asks the address it is given, by the proxy that the environment names; only the proxy answers with 403.
const GET: &str = "import sys, urllib.request as r\ntry:\n    r.urlopen(sys.argv[1])\nexcept r.HTTPError as error:\n    \
                   sys.exit(error.code == 403)\n";

/// A pull request whose check is green, of a world with this setting; `rules` makes `.github/hob.toml` of a host and of
/// a command that asks it.
async fn is_green_with(setting: &str, rules: impl Fn(&str, &str) -> String) {
    let listed = hob_bench::serve(hob_bench::Script::new(["true"]), |_| {}).await.unwrap();
    let get = format!("NO_PROXY= no_proxy= {PYTHON} get.py {}/v1/models", listed.address());
    let host = listed.address().trim_start_matches("http://");
    let world = World::with_agent("echo done > done.txt")
        .file(".github/hob.toml", &rules(host, &get))
        .file("get.py", GET)
        .set(setting, host)
        .start()
        .await;
    world.asks("Try it", "").await;
    world.run().await;
    let pull = world.pull().await;
    assert!(pull["body"].as_str().unwrap().contains("**No tests**"), "{}", pull["body"]);
    world.finish().await;
}

#[tokio::test]
async fn a_step_reaches_the_listed_hosts_and_a_check_reaches_none() {
    needs!(PYTHON);
    let rules = |host: &str, get: &str| {
        let (steps, checks) = (json!([get]), json!([format!("! {get}")]));
        format!("setup = {steps}\nchecks = {checks}\ncheck_hosts = ['{host}']\n")
    };
    is_green_with("sandbox.setup_hosts", rules).await;
}

/// Companies keep packages on servers of their own, at private addresses.
#[tokio::test]
async fn a_step_reaches_a_name_on_a_private_network_if_the_operator_says_that_it_is_one() {
    needs!(PYTHON);
    let inside = hob_bench::serve(hob_bench::Script::new(["true"]), |_| {}).await.unwrap();
    let host = inside.address().replace("http://127.0.0.1", "localhost");
    let get = format!("NO_PROXY= no_proxy= {PYTHON} get.py http://{host}/v1/models");
    let rules = format!("setup = {}\n", json!([get]));
    let world =
        World::with_agent("echo done > done.txt").file(".github/hob.toml", &rules).file("get.py", GET).start().await;
    world.asks("Make done.txt", "").await;
    let run =
        async |listed: &str| world.hob(&["run", "--once", "--set", &format!("sandbox.setup_hosts={listed}")]).await;
    let refused = run(&host).await;
    let told = format!("it was refused {host}: it resolves to ");
    assert!(refused.code == 6 && refused.stderr.contains(&told), "{refused:?}");
    assert!(refused.stderr.contains("the operator lists the host as `private:HOST`"), "{refused:?}");
    let passed = run(&format!("private:{host}")).await;
    assert_eq!((passed.code, world.pulls().await.len()), (0, 1), "{passed:?}");
    world.finish().await;
}

/// Attack corpus J130: a step has no variable that an agent's settings name, and no host that only the repository does.
#[tokio::test]
async fn a_step_gets_no_key_and_chooses_no_host() {
    needs!(PYTHON);
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    let get = format!("env > {{DIR}}/step; NO_PROXY= no_proxy= {PYTHON} get.py http://{address}/ || true");
    let mut world = World::with_agent("env > {DIR}/agent; echo done > done.txt")
        .file(".github/hob.toml", &format!("setup = {}\ncheck_hosts = ['{address}']\n", json!([get])))
        .file("get.py", GET)
        .set("sandbox.setup_hosts", "listed.example")
        .start()
        .await;
    world.settings.agents.get_mut("fixer").unwrap().env = vec!["DEPLOY_KEY".to_owned()];
    world.asks("Make done.txt", "").await;
    let ended = world.hob_with(&["run", "--once"], &[("DEPLOY_KEY", "canary-4711")]).await;
    let had = |name: &str| std::fs::read_to_string(world.dir().join(name)).unwrap_or_default();
    assert!(had("agent").contains("canary-4711") && had("step").contains("HTTP_PROXY="), "{ended:?}");
    assert!(!had("step").contains("canary-4711"));
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "nobody has connected");
    world.finish().await;
}

#[tokio::test]
async fn a_check_reaches_the_hosts_that_the_repository_asks_for_and_the_settings_list() {
    needs!(PYTHON);
    let asked =
        |host: &str, get: &str| format!("checks = {}\ncheck_hosts = ['{host}', 'other.example']\n", json!([get]));
    is_green_with("sandbox.check_hosts", asked).await;
    let silent = |_: &str, get: &str| format!("checks = {}\n", json!([format!("! {get}")]));
    is_green_with("sandbox.check_hosts", silent).await;
}

#[tokio::test]
async fn doctor_proposes_steps_for_a_lock_file_and_says_what_the_steps_reach() {
    let world = World::fixing().file("package-lock.json", "{}\n").start().await;
    let told = world.hob(&["doctor"]).await;
    let wanted = r#"setup = ["npm ci"], setup_key = ["package-lock.json"] in `.github/hob.toml`"#;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&told.stdout).contains(wanted), "{}\n{}", told.stdout, told.stderr);
    world.finish().await;
    let world = preparing("true").start().await;
    let told = world.hob(&["doctor"]).await;
    assert!(words(&told.stdout).contains("list the hosts of their package registries"), "{}", told.stdout);
    let told = world.hob(&["doctor", "--set", "sandbox.setup_hosts=registry.example"]).await;
    assert!(words(&told.stdout).contains("the steps reach registry.example"), "{}", told.stdout);
    world.finish().await;
    let world = World::fixing().file(".github/hob.toml", "check_hosts = ['db.example', 'a.example']").start().await;
    let told = words(&world.hob(&["doctor", "--set", "sandbox.check_hosts=db.example"]).await.stdout);
    assert!(told.contains("they ask for a.example, which `sandbox.check_hosts` does not list"), "{told}");
    assert!(told.contains("they reach db.example"), "{told}");
    world.finish().await;
}

/// A large repository names the folders that are needed.
#[tokio::test]
async fn agent_and_checks_have_the_named_folders_alone_and_people_are_told() {
    let agent = "test ! -e docs && test -e api/about && echo done > api/core/done.txt";
    let rules = "folders = ['api/core']\nchecks = ['test -e api/core/a.c && test ! -e docs/d.md']\n";
    let files = [(".github/hob.toml", rules), ("api/about", "a\n"), ("api/core/a.c", "c\n"), ("docs/d.md", "d\n")];
    let builder = files.iter().fold(World::with_agent(agent), |builder, (path, text)| builder.file(path, text));
    let world = builder.start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let brief = world.briefs(issue).remove(0);
    assert!(
        brief.contains(
            "Only these folders of the repository are here, with the files in their parent folders: `api/core`."
        ),
        "{brief}"
    );
    let pull = world.pull().await;
    let told = "Only these folders were checked out, with the files in their parent folders: `api/core`.";
    assert!(pull["body"].as_str().unwrap().contains(told), "{pull}");
    let stated = world.record(issue).await.unwrap().work.proof.unwrap().statement().predicate.environment.clone();
    assert_eq!(stated.unwrap().folders, ["api/core"]);
    let branch = pull["head"]["ref"].as_str().unwrap();
    assert_eq!(world.look(&format!("/contents/docs/d.md?ref={branch}")).await["size"], 2, "the rest stays as it was");
    world.finish().await;
}
