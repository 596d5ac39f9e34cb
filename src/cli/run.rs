//! `hob run`: passes over all issues, or the given ones.

use hob_forge::Access;
use hob_text::count;
use hob_worker::{Preflight, Repositories, RunLimits, WorkError};

use crate::cli::{
    args::Shared,
    around::{Around, counts, tell_people},
    chosen,
    exit::{Exit, fatal},
    issue_args::{Shows, StatusArgs},
    json, output,
    progress::{Show, Verbosity, Watch},
    run_args::RunArgs,
    screen::Screen,
    setup::Setup,
    status,
    stream::stamped,
    web::relay,
};

pub(super) async fn run(mut setup: Setup, shared: Shared, mut args: RunArgs, screen: Screen) -> anyhow::Result<()> {
    if let Some(jobs) = args.jobs {
        setup.settings.jobs = jobs.into();
    }
    setup.record = std::mem::take(&mut args.record).folder()?;
    match (args.issues.is_empty(), args.dry_run) {
        (true, true) => {
            let queue = StatusArgs { shows: Shows::Queue, ..StatusArgs::default() };
            status::status(setup, shared, queue, screen).await
        }
        (false, true) => Box::pin(chosen::look(setup, &shared, &args.issues)).await,
        (true, false) => poll(setup, shared, args, screen).await,
        (false, false) => Box::pin(chosen::work(setup, shared, args, screen)).await,
    }
}

/// Polls and works on what is ready.
async fn poll(mut setup: Setup, shared: Shared, args: RunArgs, screen: Screen) -> anyhow::Result<()> {
    setup.listens = args.metrics.listen.is_some();
    let relay = relay(&setup);
    let mut around = Around::begin(&setup, args.metrics, args.auto_approve.into(), screen)?;
    let show = if shared.json { Show::Json } else { Show::Lines(shared.verbosity()) };
    let mut watch = Watch::default();
    let jobs = setup.settings.jobs;
    let listen = |repositories: &Repositories| {
        let listen;
        (listen, watch) = around.listen(show, naming(repositories), jobs);
        listen
    };
    // A daemon says at its start what is missing.
    let preflight = if args.once { Preflight::BeforeWork } else { Preflight::AtStart };
    let pool = setup.pool(&shared, Access::ReadWrite, args.agent, preflight, listen).await?;
    around.forward(relay(pool.connection()));
    let pool = match around.news() {
        Some(news) => pool.hearing(news),
        None => pool,
    };
    let limits = RunLimits { max_issues: args.limit, max_runtime: args.time };
    let done = if args.once { pool.run_once(limits).await } else { pool.run_forever(limits).await };
    around.end(&watch, done.as_ref().ok()).await?;
    let done = done?;
    if shared.json {
        json::event(stamped(serde_json::json!({ "event": "ended", "summary": done }), &counts(&done)))?;
    } else if shared.verbosity() != Verbosity::Quiet {
        tell_people(&done);
    }
    if let Some(lacks) = done.lacks {
        return Err(WorkError::Shared(lacks).into());
    }
    if args.once && done.repositories_failed > 0 {
        let failed = match done.repositories_failed {
            1 => "1 repository".to_owned(),
            number => format!("{number} repositories"),
        };
        return Err(fatal(Exit::Failure, format!("{failed} could not be polled")));
    }
    if args.once && done.failed > 0 {
        let reason = format!("{} failed; the next run tries again", count(done.failed, "issue"));
        return Err(fatal(Exit::Failure, reason));
    }
    Ok(())
}

fn naming(repositories: &Repositories) -> output::Naming {
    match repositories {
        Repositories::Named(names) => output::Naming::new(names.len()),
        Repositories::OfInstallation => output::Naming::Several,
    }
}
