//! `hob rehearse`: the whole loop on the embedded forge.

use std::path::Path;

use crate::cli::{
    args::{RehearseArgs, Shared},
    ask,
    exit::{Exit, fatal},
    output::{self, BOLD, styled},
    progress::{Addresses, Show},
    rehearsal::{self, Desk},
    screen::Screen,
    setup::Setup,
};

pub(super) async fn rehearse(
    mut setup: Setup,
    shared: Shared,
    args: RehearseArgs,
    screen: Screen,
) -> anyhow::Result<()> {
    let show = if shared.json { Show::Json } else { Show::Lines(shared.verbosity()) };
    let addresses = if args.keep { Addresses::Last } else { Addresses::End };
    setup.record = args.record.folder()?;
    let approval = ask::approval(args.auto_approve.into(), setup.settings.limits.approval_time, &screen);
    let desk = Desk { show, addresses, screen, approval };
    let stage = match (shared.repo.as_slice(), &args.issue) {
        ([], None) if args.agent.is_none() => rehearsal::bundled(setup, &desk).await?,
        ([repo], Some(issue)) => rehearsal::own(setup, Path::new(repo), issue, args.agent, &desk).await?,
        ([], _) | ([_], None) | ([_, _, ..], _) => {
            let help = "to rehearse with your own repository, give both `--repo PATH` and `--issue FILE`";
            return Err(fatal(Exit::Usage, help));
        }
    };
    stage.watch.written()?;
    rehearsal::tell(&stage, &desk).await?;
    if args.keep {
        let address = stage.web_address();
        output::note(format!("\n{} {address} (Ctrl-C stops it)", styled(BOLD, "The forge keeps running at")));
        tokio::signal::ctrl_c().await?;
    }
    if args.issue.is_some() { rehearsal::expect_an_end(&stage).await } else { Ok(()) }
}
