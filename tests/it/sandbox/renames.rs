//! Paths out of a child's reach stay so under every name that the child can give them.

use super::*;

/// Attack corpus E57: neither the hidden folder, nor one above it, is moved to where a child may read.
#[tokio::test]
async fn no_rename_brings_what_is_hidden_into_reach() {
    for tier in TIERS {
        let prison = Prison::new(tier);
        for script in [
            "mv ../outside ../elsewhere",
            "mv ../outside inside",
            "mv ../outside/secret stolen",
            "mv .. ../../moved && mv ../../moved inside",
            "ln -s ../outside near; mv near/secret stolen",
            "mkdir -p d/outside; mv d ../d",
        ] {
            prison.sh(script).await;
            let names =
                "secret ../outside/secret ../elsewhere/secret inside/secret inside/outside/secret near/secret stolen";
            let (_, said) = prison.sh(&format!("cat {names}; ls .. ../outside")).await;
            assert!(!said.contains(CANARY), "{tier} {script}: {said}");
            assert_eq!(std::fs::read_to_string(prison.outside("secret")).unwrap(), CANARY, "{tier} {script}");
        }
        // The child's writable paths stay writable under any name.
        prison.sh("mkdir -p a/b; mv a c; echo x > c/b/own; mv c/b ../outside/b").await;
        assert!(prison.work().join("c/b/own").exists() && !prison.outside("b").exists(), "{tier}");
    }
}

/// Attack corpus H86: the files by which a job's later steps get variables and programs, and what names them.
#[tokio::test]
async fn the_files_of_a_jobs_later_steps_cannot_be_written() {
    for tier in TIERS {
        let prison = Prison::new(tier);
        let commands = prison.outside("set_env_4711");
        std::fs::write(&commands, "").unwrap();
        let script = format!(
            "env | grep -c '^GITHUB_\\|^RUNNER_'; echo 'PATH=/evil' >> {0}; echo 'PATH=/evil' > {0}; rm -f {0}",
            commands.display()
        );
        let (_, said) = prison.sh(&script).await;
        assert!(said.starts_with("0\n"), "{tier}: {said}");
        assert_eq!(std::fs::read_to_string(&commands).unwrap(), "", "{tier}");
    }
}
