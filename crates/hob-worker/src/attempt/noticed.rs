//! What a person should see first of the work, beside how it is tested.

use hob_domain::{Diff, Names, Notable, Sha, Sweeping};
use hob_forge::WeakPackage;
use hob_proof::is_lock;
use hob_workspace::notable;

use crate::{WorkError, Worker, attempt::job::Job};

/// What a person should see first of the change to `head`.
pub(super) async fn noticed(worker: &Worker, job: &Job<'_>, head: &Sha, diff: &Diff) -> Result<Notable, WorkError> {
    let own = worker.commit_identity().await;
    let found = notable(&job.checkout, head, diff.files.clone(), &own).await?;
    // A person who approved a plan knows how far it goes, and is told what it does not name.
    if job.held.lease.record().approved_plan().is_some() {
        return Ok(found);
    }
    let locks = diff.files.iter().map(|file| file.path.clone()).filter(|path| is_lock(path));
    let by_programs: Names = found.generated.first.iter().cloned().chain(locks).collect();
    let by_programs = Names { all: by_programs.all + found.generated.all - found.generated.first.len(), ..by_programs };
    let issue = &job.held.issue;
    let said = job.comments_so_far().into_iter().map(|(_, body)| body);
    let text = [issue.title.clone(), issue.body.clone()].into_iter().chain(said).collect::<Vec<_>>().join("\n");
    Ok(Notable { sweeping: Sweeping::of(diff, &by_programs, &text), ..found })
}

/// The same, with what the forge knows against the packages that the pushed work brings. Nothing depends on it: a forge that does
/// not review dependencies, or fails, adds nothing.
pub(super) async fn with_advisories(
    worker: &Worker,
    job: &Job<'_>,
    head: &Sha,
    diff: &Diff,
    mut notable: Notable,
) -> Notable {
    let brings = !notable.dependencies.is_empty() || diff.files.iter().any(|file| is_lock(&file.path));
    if !brings {
        return notable;
    }
    match worker.forge.repository().weak_packages(job.checkout.base(), head).await {
        Ok(weak) => {
            for WeakPackage { name, version, file, advisories } in weak {
                notable.dependencies.warn(&name, &version, &file, advisories);
            }
        }
        Err(error) => tracing::warn!(issue = job.number().0, %error, "no dependency was reviewed: {error}"),
    }
    notable
}
