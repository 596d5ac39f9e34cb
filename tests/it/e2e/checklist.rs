//! The agent's checklist in the status comment, while it works and afterwards.

use hob_config::{AgentSettings, BackendKind};
use serde_json::{Value, json};

use crate::harness::{World, run};

/// Bytes that people see of a checklist.
const SHOWN_MAX: usize = 2_048;

/// A line of a program's output that tells its checklist.
fn told(steps: &[(&str, &str)]) -> String {
    let steps: Vec<Value> = steps.iter().map(|(step, state)| json!({ "step": step, "state": state })).collect();
    json!({ "checklist": steps }).to_string()
}

/// An agent that tells these lines, and works when the file `go` is there.
fn telling(lines: &[String]) -> String {
    let said: String = lines.iter().map(|line| format!("printf '%s\\n' '{}'\n", line.replace('\'', "'\\''"))).collect();
    format!("{said}until [ -e {{DIR}}/go ]; do sleep 0.01; done; echo done > done.txt; echo It is done.")
}

/// The status comment while the agent waits, once it has `part`, and when the work is over.
async fn before_and_after(world: World, part: &str) -> (String, String, usize) {
    let issue = world.asks("Make done.txt", "").await;
    let worker = world.worker("w1").await;
    let mut works = Box::pin(run(&worker));
    let looks = async {
        let seen = loop {
            let status = world.status(issue).await;
            if status.contains(part) {
                break status;
            }
            tokio::task::yield_now().await;
        };
        std::fs::write(world.dir().join("go"), "").unwrap();
        seen
    };
    let seen = tokio::select! {
        seen = looks => seen,
        summary = &mut works => panic!("it ended before it was seen: {summary:?}, {:?}", world.failures()),
    };
    let summary = works.await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    let after = world.status(issue).await;
    let edits = world.writes().iter().filter(|write| write.path.contains("/issues/comments/")).count();
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    assert!(body.contains("It is done.") && !body.contains("checklist"), "{body}");
    world.finish().await;
    (seen, after, edits)
}

#[tokio::test]
async fn a_checklist_is_followed_while_the_agent_works_and_folded_at_the_end() {
    let lines = [
        told(&[("Look around", "doing"), ("Write the file", "todo")]),
        told(&[("Look around", "done"), ("Write the file", "doing")]),
    ];
    let world =
        World::with_agent(&telling(&lines)).check("test -f done.txt").set("testing.status.live", "1ms").start().await;
    let (seen, after, _) = before_and_after(world, "1 of 2 steps done").await;
    let open =
        "**In progress**: an agent works on it.\n\n1 of 2 steps done:\n\n- ✓ Look around\n- **Now**: Write the file\n";
    assert!(seen.contains(open), "{seen}");
    let folded = "<details><summary>1 of 2 steps done by the agent</summary>\n\n- ✓ Look around\n- ○ Write the file\n";
    assert!(after.contains("**In review**") && after.contains(folded), "{after}");
}

#[tokio::test]
async fn a_hostile_checklist_is_short_and_does_nothing() {
    let hostile = format!("Fixes #1 @ann <img src=x> ![x](http://e.example) /hob cancel {}", "x".repeat(900));
    let steps = vec![(hostile.as_str(), "doing"); 60];
    let lines = [told(&[("x\n<!-- hob:status -->\n/hob cancel", "todo")]), told(&steps)];
    let world =
        World::with_agent(&telling(&lines)).check("test -f done.txt").set("testing.status.live", "1ms").start().await;
    let (seen, after, _) = before_and_after(world, "of 50 steps done").await;
    for status in [seen, after] {
        assert!(!status.contains("@ann") && !status.contains("#1 ") && !status.contains("<img"), "{status}");
        assert_eq!((status.matches("<!-- ").count(), status.contains("\n/hob")), (1, false), "{status}");
        assert!(status.len() < SHOWN_MAX + 400, "{} bytes", status.len());
    }
}

#[tokio::test]
async fn a_short_run_costs_no_edit_and_its_checklist_is_folded() {
    let lines: Vec<String> = (0..5).map(|n| told(&[("Look", "done"), (&format!("Step {n}"), "doing")])).collect();
    let say: String = lines.iter().map(|line| format!("echo '{line}'\n")).collect();
    let mut edits = Vec::new();
    for script in [format!("{say}echo done > done.txt"), "echo done > done.txt".to_owned()] {
        let world = World::with_agent(&script).check("test -f done.txt").start().await;
        let issue = world.asks("Make done.txt", "").await;
        world.run().await;
        edits.push(world.writes().iter().filter(|write| write.path.contains("/issues/comments/")).count());
        let status = world.status(issue).await;
        assert_eq!(status.contains("- ○ Step 4"), edits.len() == 1, "{status}");
        world.finish().await;
    }
    assert_eq!(edits[0], edits[1]);
}

#[tokio::test]
async fn the_plan_tool_of_a_native_agent_is_a_checklist() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("replies.json");
    let call = |name: &str, arguments: Value| json!({ "calls": [{ "name": name, "arguments": arguments }] });
    let replies = json!({ "cassette": 1, "replies": [
        call("plan", json!({ "steps": [{ "step": "Look", "state": "done" }, { "step": "Write it", "state": "doing" }] })),
        call("write", json!({ "path": "done.txt", "text": "done\n" })),
        call("done", json!({ "summary": "Wrote it." })),
    ] });
    std::fs::write(&file, replies.to_string()).unwrap();
    let agent = AgentSettings {
        backend: BackendKind::Native,
        model: Some(format!("cassette/{}", file.display())),
        last_look: false,
        ..AgentSettings::default()
    };
    let world = World::fixing().agent("model", agent).set("agent", "model").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let status = world.status(issue).await;
    assert!(status.contains("**In review**") && status.contains("- ✓ Look\n- ○ Write it\n"), "{status}");
    world.finish().await;
}
