//! A child's control group, if the machine delegates a part of their tree.

use crate::harness::{World, needs, skipped};

/// Attack corpus K131
/// Attack corpus K132: if a part of the tree of control groups is delegated, as by systemd, each child has its own
/// group, and nothing of it is left.
#[tokio::test]
async fn a_delegated_control_group_holds_a_child() {
    if !rustix::process::geteuid().is_root() {
        return skipped("only root delegates control groups");
    }
    needs!("python3");
    for tier in ["fence", "box"] {
        // In a box the group is the top of what it sees.
        let world = World::with_agent("cat /proc/self/cgroup > done.txt; setsid sleep 600 & echo done")
            .set("sandbox.tier", tier)
            .start()
            .await;
        let issue = world.asks("Make done.txt", "").await;
        let script = r#"exec unshare --mount sh -c 'mkdir top && mount -t cgroup2 none top && unit=top/unit-$$ && mkdir $unit || exit 77
            python3 -c "import os, sys; os.setxattr(sys.argv[1], \"user.delegate\", b\"1\")" $unit
            echo $$ > $unit/cgroup.procs
            "$@"; code=$?
            echo left $(ls $unit | grep child-)
            echo $$ > top/cgroup.procs; rmdir $unit/*/ 2> /dev/null; rmdir $unit || exit 78; exit $code' sh "$@""#;
        let ended = world.hob_in_shell(script, &["run", "--once"]).await;
        if ended.code == 77 {
            return skipped("this machine has no control groups of version 2");
        }
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{ended:?}");
        let pull = world.pull().await;
        let group = world.content("done.txt", pull["head"]["ref"].as_str().unwrap()).await;
        let group = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap().to_owned();
        assert!(if tier == "box" { group == "/" } else { group.contains("/child-") }, "{tier}: {group}");
        assert!(ended.stdout.lines().any(|line| line == "left"), "{ended:?}");
        world.finish().await;
    }
}
