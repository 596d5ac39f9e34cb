//! `hob verify`: the statement of a pull request against its head, and the signature against a key.

use hob_domain::{Envelope, IssueNumber, Proof, PullNumber, Record, StatedOf, misfits, run_differences};
use hob_forge::Access;
use hob_text::terminal;
use hob_worker::{Worker, explain, rerun};
use hob_workspace::{StatementKey, claimed_key};
use serde::Serialize;

use crate::cli::{
    args::Shared,
    exit::{Exit, fatal},
    issue_args::VerifyArgs,
    json, layout,
    setup::{Listen, Setup},
};

/// What a signature is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Vouched {
    /// There is no signature.
    Unsigned,
    /// There is one, and no key to check it with.
    Unchecked,
    /// It is by one of the keys.
    Valid,
    /// It is by none of the keys.
    Invalid,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Verified {
    repository: String,
    pull_request: PullNumber,
    issue: IssueNumber,
    head: String,
    digest: String,
    shown: String,
    signature: Vouched,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    rerun: bool,
    faults: Vec<String>,
}

pub(super) async fn verify(setup: Setup, shared: Shared, args: VerifyArgs) -> anyhow::Result<()> {
    let keys = match &args.key {
        Some(path) => Some(keys(path).await?),
        None => None,
    };
    // A worker of this machine may have the checkouts of its own state folder in use.
    let place = args.rerun.then(tempfile::tempdir).transpose()?;
    let worker = match &place {
        Some(place) => setup.worker_that_runs(&shared, place.path()).await?,
        None => setup.worker(&shared, Access::ReadOnly, None, Listen::nobody()).await?,
    };
    let Taken { proof, of, base_name } = taken(&worker, &args.target).await?;
    let (signature, key) = vouched(&proof, keys.as_deref());
    let mut faults: Vec<String> = misfits(&proof, &of).iter().map(ToString::to_string).collect();
    match signature {
        Vouched::Invalid => faults.push(
            "its signature is by none of the given keys, or what it signs was changed: do not trust it".to_owned(),
        ),
        Vouched::Unsigned if keys.is_some() => {
            faults.push("it has no signature: let Hob sign with `publish.signing = \"ssh\"`".to_owned());
        }
        Vouched::Unsigned | Vouched::Unchecked | Vouched::Valid => {}
    }
    let statement = proof.statement();
    if args.rerun && faults.is_empty() {
        let made = Box::pin(rerun(&worker, &proof, &base_name)).await?;
        let differ = run_differences(&statement.predicate, &made.shown, &made.runs);
        faults.extend(differ.iter().map(|differs| format!("the runs differ: {differs}")));
    }
    let found = Verified {
        repository: statement.predicate.repository.to_string(),
        pull_request: statement.predicate.pull_request,
        issue: statement.predicate.issue,
        head: statement.head.to_string(),
        digest: proof.digest().to_string(),
        shown: statement.predicate.shown.word.name().to_owned(),
        signature,
        key,
        rerun: args.rerun,
        faults,
    };
    if shared.json {
        json::result(&found)?;
    } else {
        print(&found)?;
    }
    if found.faults.is_empty() {
        return Ok(());
    }
    Err(fatal(Exit::Unfinished, format!("the statement does not hold: {}", found.faults.join("; "))))
}

fn print(found: &Verified) -> anyhow::Result<()> {
    let Verified { repository, pull_request, issue, head, digest, shown, signature, key, rerun, faults } = found;
    let key = key.as_deref().unwrap_or("another kind");
    let vouched = match signature {
        Vouched::Unsigned => "unsigned: nobody vouches for it".to_owned(),
        Vouched::Unchecked => format!("signed by a key that says it is {key}; not checked, as no `--key` is given"),
        Vouched::Valid => format!("signed by the key {key}"),
        Vouched::Invalid => "signed by none of the given keys".to_owned(),
    };
    let runs =
        if *rerun && faults.is_empty() { "\nthe four runs ended the same when they were made again" } else { "" };
    let text = format!(
        "statement of #{pull_request} for issue #{issue} in {repository}\nhead {head}\nshown {shown}\nsha256 {digest}\n{vouched}{runs}"
    );
    Ok(layout::paragraph(&terminal(&text))?)
}

/// The keys of a file.
async fn keys(path: &std::path::Path) -> anyhow::Result<Vec<StatementKey>> {
    let text = read(path).await?;
    let keys = StatementKey::read_all(&text);
    if keys.is_empty() {
        let says = "has no public Ed25519 key for `hob-proof`, as `ssh-keygen` writes a `.pub` file";
        return Err(fatal(Exit::Usage, format!("`{}` {says}", path.display())));
    }
    Ok(keys)
}

async fn read(path: &std::path::Path) -> anyhow::Result<String> {
    let text = tokio::fs::read_to_string(path).await;
    text.map_err(|error| fatal(Exit::Usage, format!("`{}` cannot be read: {error}", path.display())))
}

/// A statement, and the pull request that it is held against.
struct Taken {
    proof: Proof,
    of: StatedOf,
    /// The branch that the pull request goes to.
    base_name: String,
}

/// The statement of a number or a file.
async fn taken(worker: &Worker, target: &str) -> anyhow::Result<Taken> {
    let number: Option<u64> = target.strip_prefix('#').unwrap_or(target).parse().ok();
    let given = match number {
        Some(_) => None,
        None => Some(from_file(target).await?),
    };
    let of_file = given.as_ref().map(|proof| proof.statement().predicate.pull_request);
    let record = match number {
        // Issues and pull requests share their numbers.
        Some(number) => of_issue(worker, IssueNumber(number)).await?,
        None => None,
    };
    let of_issue = record.as_ref().and_then(|record| record.pull.number);
    let Some(pull_request) = of_issue.or(number.map(PullNumber)).or(of_file) else {
        return Err(fatal(Exit::Usage, "there is nothing to verify"));
    };
    let forge = worker.forge();
    let gone = || fatal(Exit::NotFound, format!("pull request #{pull_request} does not exist"));
    let pull = forge.pulls().get(pull_request).await?.ok_or_else(gone)?;
    let record = match record {
        Some(record) => Some(record),
        None => of_pull(worker, pull_request).await?,
    };
    let (issue, kept) = record.map(|record| (record.issue, record.work.proof)).unzip();
    let none = || {
        let says = "no ledger has its statement: give the file that the action or `hob status --json` wrote";
        fatal(Exit::NotFound, format!("pull request #{pull_request}: {says}"))
    };
    let proof = given.or(kept.flatten().map(|proof| *proof)).ok_or_else(none)?;
    let tree = forge.repository().tree_of(&pull.head).await?;
    let of = StatedOf { repository: forge.repo().clone(), pull_request, issue, head: pull.head, tree };
    Ok(Taken { proof, of, base_name: pull.base_name })
}

/// The ledger of an issue, whether it is done or not; `None` if it has none.
async fn of_issue(worker: &Worker, issue: IssueNumber) -> anyhow::Result<Option<Record>> {
    let ledger = worker.forge().ledger();
    Ok(match ledger.tip(issue).await? {
        Some(tip) => Some(ledger.entry(&tip).await?.record),
        None => None,
    })
}

/// The ledger that names a pull request: among those of open issues, which are read in any case, else among all.
async fn of_pull(worker: &Worker, pull: PullNumber) -> anyhow::Result<Option<Record>> {
    let records = Box::pin(explain::overview(worker)).await?.unfinished.into_iter().map(|(_, record)| record);
    let is_it = |record: &Record| record.pull.number == Some(pull);
    if let Some(record) = records.into_iter().find(is_it) {
        return Ok(Some(record));
    }
    let ledger = worker.forge().ledger();
    let tips = ledger.tips().await?.issues;
    ledger.read_ahead(tips.iter().map(|tip| &tip.commit)).await;
    for tip in tips.iter().rev() {
        // One that another Hob wrote in a form of its own is not of interest.
        if let Ok(entry) = ledger.entry(tip).await
            && is_it(&entry.record)
        {
            return Ok(Some(entry.record));
        }
    }
    Ok(None)
}

async fn from_file(path: &str) -> anyhow::Result<Proof> {
    let text = read(std::path::Path::new(path)).await?;
    let unfit = |why: String| fatal(Exit::Unfinished, format!("`{path}` is not a statement in its envelope: {why}"));
    let envelope: Envelope = serde_json::from_str(&text).map_err(|error| unfit(error.to_string()))?;
    Proof::try_from(envelope).map_err(|error| unfit(error.to_string()))
}

/// Whether a key vouches for it, and which.
fn vouched(proof: &Proof, keys: Option<&[StatementKey]>) -> (Vouched, Option<String>) {
    let Some(first) = proof.signatures().first() else { return (Vouched::Unsigned, None) };
    let Some(keys) = keys else { return (Vouched::Unchecked, claimed_key(first)) };
    let signed = |key: &&StatementKey| proof.signatures().iter().any(|signature| key.signed(proof, signature));
    match keys.iter().find(signed) {
        Some(key) => (Vouched::Valid, Some(key.fingerprint())),
        None => (Vouched::Invalid, None),
    }
}
