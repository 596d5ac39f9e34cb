//! The books of a world: what its agents really spent, beside what the issues' ledgers and the machines' journals say.
//!
//! Run N of an issue costs 4^N millionths of a US dollar, and as many tokens sent and produced. So the digits of a bill to the
//! base 4 are the runs: 0 is a run that does not count, 1 one that counts once, more one that counts too often.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use hob_domain::Spend;

use super::{World, run};

/// The shell's part: the cost of the run, from its number `$n`.
pub(crate) const BILL: &str = "bill=1; i=0; while [ $i -lt $n ]; do bill=$((bill*4)); i=$((i+1)); done\n";

/// A command of an agent's script: notes in the books that this run has its cost, and reports it with these other fields.
pub(crate) fn billed(fields: &str) -> String {
    let cost = r#""usd":'$bill'e-6,"input_tokens":'$bill',"output_tokens":'$bill'"#;
    format!(": > {{DIR}}/books/$HOB_ISSUE-$n; printf '%s\\n' '{{{fields},{cost}}}'")
}

/// The books of one world.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// By issue, the runs whose cost may be lost: each ended with its worker, which had not written it.
    lost: BTreeMap<u64, BTreeSet<usize>>,
}

/// Whether the machine of a worker that died continues its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    /// It does: sessions on its disk have the cost of runs that ended.
    Stays,
    /// Another one does.
    Goes,
}

impl Books {
    /// Call this after a worker died, or ended an agent. The runs of the issue that had begun and that neither ledger nor disk
    /// counts by now may be lost; no other run may.
    pub(crate) async fn loses(&mut self, world: &World, issue: u64, machine: Machine) {
        let runs = world.briefs(issue).len();
        let bill = world.record(issue).await.map(|record| record.spend).unwrap_or_default();
        let journaled: Vec<_> = world.journaled(issue).iter().map(|path| amount(path)).collect();
        for n in 0..runs {
            let counts = |spend: &Spend| digit(spend.usd_micros, n) > 0;
            let is_kept = machine == Machine::Stays && is_in_a_session(world, n);
            if !counts(&bill) && !journaled.iter().any(counts) && !is_kept {
                self.lost.entry(issue).or_default().insert(n);
            }
        }
    }

    /// Whether the issue's ledger counts each of its runs once, and no journal has more; if not, the error says which run.
    pub(crate) async fn balance(&self, world: &World, issue: u64) -> Result<(), String> {
        let runs = world.briefs(issue).len();
        let bill = world.record(issue).await.map(|record| record.spend).unwrap_or_default();
        let sum = (bill.usd_micros, bill.input_tokens, bill.output_tokens);
        if sum != (bill.usd_micros, bill.usd_micros, bill.usd_micros) {
            return Err(format!("money and tokens differ: {bill:?}"));
        }
        if let Some(path) = world.journaled(issue).first() {
            return Err(format!("{} still has {:?}", path.display(), amount(path)));
        }
        for n in 0..runs {
            let is_told = world.dir().join(format!("books/{issue}-{n}")).exists();
            let may_be_lost = self.lost.get(&issue).is_some_and(|lost| lost.contains(&n));
            match digit(bill.usd_micros, n) {
                1 if is_told => {}
                0 if !is_told || may_be_lost => {}
                0 => return Err(format!("run {n} of {runs} is lost: {bill:?}")),
                times => return Err(format!("run {n} of {runs}, told: {is_told}, counts {times} times: {bill:?}")),
            }
        }
        match bill.usd_micros >> (2 * runs) {
            0 => Ok(()),
            _ => Err(format!("there were {runs} runs, and spent are {bill:?}")),
        }
    }

    /// Whether no run began after the ones that count had used up this many tokens; if one did, the error says which.
    pub(crate) async fn keeps_to(&self, world: &World, issue: u64, tokens: u64) -> Result<(), String> {
        let bill = world.record(issue).await.unwrap().spend.usd_micros;
        for n in 1..world.briefs(issue).len() {
            // A lost run that was found again after this one began counts against nobody.
            let known = (0..n).filter(|run| digit(bill, *run) == 1).map(|run| 2 << (2 * run)).sum::<u64>();
            if known >= tokens {
                return Err(format!("run {n} began when {known} of {tokens} tokens were spent"));
            }
        }
        Ok(())
    }
}

/// How often the run counts in a sum of costs.
fn digit(sum: u64, run: usize) -> u64 {
    sum >> (2 * run) & 3
}

/// The spend in a file of a journal.
fn amount(path: &Path) -> Spend {
    let entry: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    serde_json::from_value(entry["spend"].clone()).unwrap()
}

/// Whether a session on any machine has the cost of the run.
fn is_in_a_session(world: &World, run: usize) -> bool {
    let cost = format!("\"usd_micros\":{},", 1_u64 << (2 * run));
    let is_its = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains(&cost));
    world.machines().iter().any(|machine| files(&world.state_dir(machine).join("sessions")).iter().any(is_its))
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.flat_map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { vec![entry.path()] }).collect()
}

impl World {
    /// The names of the workers that have a state folder.
    fn machines(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir()).unwrap().flatten();
        let names = entries.filter_map(|entry| Some(entry.file_name().to_str()?.strip_prefix("state-")?.to_owned()));
        names.collect()
    }

    /// The files of all machines' journals about the issue.
    pub(crate) fn journaled(&self, issue: u64) -> Vec<PathBuf> {
        let of = |machine: &String| files(&self.state_dir(machine).join("unpaid"));
        let its = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&format!("{issue}-"));
        self.machines().iter().flat_map(of).filter(its).collect()
    }

    /// The machines that could not write what their agents spent poll again.
    pub(crate) async fn pays(&self) {
        for machine in self.machines() {
            if !files(&self.state_dir(&machine).join("unpaid")).is_empty() {
                run(&self.worker(&machine).await).await;
            }
        }
    }
}
