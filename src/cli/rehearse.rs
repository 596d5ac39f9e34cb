//! `hob rehearse`: the whole loop on the embedded forge.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
};

use crate::cli::{
    args::{RehearseArgs, Shared},
    ask,
    exit::{Exit, fatal},
    output::{self, BOLD, styled},
    progress::{Addresses, Show},
    rehearsal::{self, Desk},
    screen::Screen,
    setup::Setup,
    web::Web,
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
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let web = if args.keep { Some(Web::open(here, None, &setup)?) } else { None };
    let desk = Desk { show, addresses, screen, approval, web };
    // The folder had the name of the global option, which still names it.
    let folders: Vec<&Path> = args.folder.as_deref().into_iter().chain(shared.repo.iter().map(Path::new)).collect();
    let stage = match (folders.as_slice(), &args.task) {
        ([], None) if args.agent.is_none() => rehearsal::bundled(setup, &desk).await?,
        ([folder], Some(task)) => rehearsal::own(setup, folder, task, args.agent, &desk).await?,
        ([], _) | ([_], None) | ([_, _, ..], _) => {
            let help = "to rehearse with your own repository, give both `--folder PATH` and `--task FILE`";
            return Err(fatal(Exit::Usage, help));
        }
    };
    stage.watch.written()?;
    rehearsal::tell(&stage, &desk).await?;
    if args.keep {
        let address = stage.web_address();
        output::note(format!("\n{} {address} (Ctrl-C stops it)", styled(BOLD, "The forge keeps running at")));
        if let Some(web) = &desk.web {
            output::note(format!(
                "{} http://{}/",
                styled(BOLD, "What Hob's page showed at the end is at"),
                web.server.address()
            ));
        }
        tokio::signal::ctrl_c().await?;
    }
    if args.task.is_some() { rehearsal::expect_an_end(&stage).await } else { Ok(()) }
}
