//! The processes below this one, and what they cost: read from `/proc`, so on Linux only.

use std::{collections::BTreeMap, fs};

/// Clock ticks a second, as the kernel shows times to programs: fixed on Linux (`USER_HZ`).
const TICKS_A_SECOND: f64 = 100.0;

/// The used fields of one process's `/proc/PID/stat`.
struct Stat {
    parent: u32,
    /// CPU time of the process and of its children that it has waited for, in ticks.
    ticks: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may contain blanks and parentheses.
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ticks = (11..15).map(number).sum::<Option<u64>>()?;
    Some(Stat { parent: u32::try_from(number(1)?).ok()?, ticks })
}

/// The processes below this one, children first.
fn descendants() -> BTreeMap<u32, Stat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut others: BTreeMap<u32, Stat> = pids.filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let mut found = BTreeMap::new();
    let mut parents = vec![std::process::id()];
    while let Some(parent) = parents.pop() {
        let children: Vec<u32> = others.iter().filter(|(_, stat)| stat.parent == parent).map(|(pid, _)| *pid).collect();
        for child in children {
            if let Some(stat) = others.remove(&child) {
                found.insert(child, stat);
                parents.push(child);
            }
        }
    }
    found
}

/// CPU time of this process's descendants so far, in milliseconds; ended ones count towards the process that reaped
/// them.
pub(super) fn cpu_ms() -> f64 {
    let ticks: u64 = descendants().values().map(|stat| stat.ticks).sum();
    ticks as f64 * 1_000.0 / TICKS_A_SECOND
}

/// Memory of the processes below this one, in MB: shared pages count in parts (PSS).
pub(super) fn pss_mb() -> f64 {
    let of = |pid: &u32| {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    descendants().keys().filter_map(of).sum::<f64>() * 1_024.0 / 1e6
}
