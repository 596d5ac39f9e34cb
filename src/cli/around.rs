//! What a run has beside its issues: metrics, reports, the person at the terminal, and the signals that stop it.

use hob_agent::Approval;
use hob_config::listen_token;
use hob_text::count;
use hob_web::Relay;
use hob_worker::{NewsReceiver, RunSummary, sum_metrics};
use tokio_util::sync::CancellationToken;

use crate::cli::{
    ask::{self, AutoApprove},
    layout::{width_of, wrapped},
    metrics_file::MetricsFile,
    output::{self, BOLD, DIM, styled},
    progress::{self, Addresses, Show, View, Watch},
    run_args::MetricsArgs,
    screen::Screen,
    setup::{Listen, Setup},
    signals::stop_on_signal,
    summary::Report,
    web::Web,
};

/// What a run has beside its issues.
pub(super) struct Around {
    metrics: Option<MetricsFile>,
    web: Option<Web>,
    report: Report,
    cancel: CancellationToken,
    approval: Approval,
    screen: Screen,
}

impl Around {
    /// From here on, a signal stops the run.
    pub(super) fn begin(
        setup: &Setup,
        metrics: MetricsArgs,
        approve: AutoApprove,
        screen: Screen,
    ) -> anyhow::Result<Self> {
        // Before anything says that the run is there.
        let cancel = CancellationToken::new();
        stop_on_signal(cancel.clone(), screen.clone());
        if metrics.metrics_totals {
            sum_metrics();
        }
        let web = match metrics.listen {
            Some(address) => Some(Web::open(address.0, listen_token(&setup.files), setup)?),
            None => None,
        };
        let metrics = MetricsFile::open(metrics.metrics)?;
        if let Some(web) = &web {
            screen.line(format!("serving the page at http://{}/", web.server.address()));
        }
        let report = Report::new(setup);
        let approval = ask::approval(approve, setup.settings.limits.approval_time, &screen);
        Ok(Self { metrics, web, report, cancel, approval, screen })
    }

    /// What webhooks tell, if they can come.
    pub(super) fn news(&mut self) -> Option<NewsReceiver> {
        self.web.as_mut().and_then(|web| web.server.news())
    }

    /// Answers the pods of Jobs with this, if anything.
    pub(super) fn forward(&self, relay: Option<Relay>) {
        if let Some(web) = &self.web {
            web.server.forward(relay);
        }
    }

    /// How the events of a run are shown, with this many issues at a time.
    pub(super) fn listen(&self, show: Show, naming: output::Naming, jobs: usize) -> (Listen, Watch) {
        let (grouping, keeps) = (self.report.grouping(jobs), self.report.keeps());
        let view = View { show, naming, addresses: Addresses::Last, grouping, keeps };
        let (events, watch) = progress::sink(view, &self.screen, &self.cancel);
        let (events, watcher) = Web::around(self.web.as_ref(), events);
        (Listen { events, watcher, cancel: self.cancel.clone(), approval: self.approval.clone() }, watch)
    }

    /// Writes what is written at the end of a run; `done` is `None` if it failed.
    pub(super) async fn end(self, watch: &Watch, done: Option<&RunSummary>) -> anyhow::Result<()> {
        self.screen.close();
        if let Some(web) = self.web {
            web.server.close().await;
        }
        if let Some(metrics) = self.metrics {
            metrics.close().await;
        }
        self.report.write(&watch.log, done)?;
        Ok(watch.written()?)
    }
}

/// The counts of a run, in a line.
pub(super) fn counts(done: &RunSummary) -> String {
    let calls = done.calls;
    format!(
        "{} worked on, {} reconciled, {} failed; API calls: {}, {} not modified (free), {}",
        count(done.worked, "issue"),
        done.reconciled,
        done.failed,
        count(calls.reads, "read"),
        calls.unchanged,
        count(calls.writes, "write")
    )
}

/// Prints the counts of a run and what is left of the rate limits on standard error.
pub(super) fn tell_people(done: &RunSummary) {
    let text = counts(done);
    let width = width_of(std::io::stderr());
    output::note(wrapped(&styled(BOLD, &text), width, 0));
    for rate in &done.rates {
        output::note(wrapped(&styled(DIM, &output::rate(rate)), width, 0));
    }
}
