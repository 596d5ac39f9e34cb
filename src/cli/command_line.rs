//! The command line as a whole: its help has the commands by groups, and explains the global options once.

use std::fmt::Write;

use clap::CommandFactory;

use crate::cli::{
    args::{Cli, Command},
    old_names::Invoked,
};

/// The end of each command's help, in place of the global options.
const GLOBAL: &str = "Global options, such as --repo, --config, --json, -q and -v: see `hob --help`";

/// The commands that are shown, by what they are for.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Get started", &["rehearse", "init", "doctor"]),
    ("Work", &["run"]),
    (
        "Issues",
        &[
            "status", "explain", "audit", "outcomes", "flakes", "verify", "answer", "approve", "pause", "resume",
            "cancel",
        ],
    ),
    ("Advanced", &["session", "agent", "models", "eval", "forge", "config", "completions"]),
];

/// The whole command line, with the names that commands had before.
pub(super) fn command() -> clap::Command {
    arranged(Cli::<Invoked>::command())
}

/// The command line that completions and manual pages show: without those names.
pub(super) fn shown() -> clap::Command {
    arranged(Cli::<Command>::command())
}

/// Arranges the help. The global options are accepted after each command and explained once, by `hob --help`.
fn arranged(root: clap::Command) -> clap::Command {
    // clap has no groups of commands.
    let page = page(&root);
    let hidden: Vec<_> =
        root.get_arguments().filter(|arg| arg.is_global_set()).map(|arg| arg.clone().hide(true)).collect();
    let apart = |command: clap::Command| command.args(&hidden).after_help(GLOBAL);
    root.help_template(page).mut_subcommands(|command| apart(own(command).mut_subcommands(apart)))
}

/// A command with what its derived arguments cannot say.
fn own(command: clap::Command) -> clap::Command {
    match command.get_name() {
        "status" => command.mut_args(|arg| match arg.get_id().as_str() {
            "limit" | "shard" => arg.requires("ready"),
            _other => arg,
        }),
        // `hob eval PATH` is `hob eval run PATH`, whose help shows the arguments.
        "eval" => command.mut_args(|arg| arg.hide(true)).override_usage("hob eval <COMMAND>"),
        _other => command,
    }
}

/// The template of `hob --help`.
fn page(root: &clap::Command) -> String {
    let (heading, name) = (root.get_styles().get_header(), root.get_styles().get_literal());
    let mut page = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, commands) in GROUPS {
        write!(page, "\n{heading}{title}:{heading:#}\n").ok();
        for command in commands {
            let about = root.find_subcommand(command).and_then(clap::Command::get_about).cloned().unwrap_or_default();
            writeln!(page, "  {name}{command:<11}{name:#}  {about}").ok();
        }
    }
    write!(page, "\n{heading}Options:{heading:#}\n{{options}}\n\n`hob help COMMAND` explains a command.").ok();
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest line of a command in `hob --help`, which no terminal has to break.
    const LINE_MAX: usize = 66;

    #[test]
    fn every_command_that_is_shown_is_in_a_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, commands)| commands.iter().copied()).collect();
        for root in [shown(), command()] {
            let listed: Vec<_> = root.get_subcommands().filter(|command| !command.is_hide_set()).collect();
            let names: Vec<_> = listed.iter().map(|command| command.get_name()).collect();
            assert_eq!(names, grouped);
            let about = |command: &&clap::Command| command.get_about().unwrap().to_string();
            assert!(listed.iter().map(about).all(|about| about.chars().count() <= LINE_MAX && !about.contains('{')));
        }
    }

    #[test]
    fn only_the_old_names_and_the_packagers_commands_are_hidden() {
        let root = command();
        let hidden = root.get_subcommands().filter(|command| command.is_hide_set());
        let names: Vec<_> = hidden.map(clap::Command::get_name).collect();
        let old = "work list ready history sessions show log replay agents investigate routing settings version man";
        assert_eq!(names, old.split(' ').collect::<Vec<_>>());
    }

    /// Adds the page of a command, and those of its subcommands.
    fn add_pages(command: &clap::Command, pages: &mut Vec<String>) {
        let text = command.clone().term_width(100).render_help().to_string();
        let name = command.get_bin_name().unwrap_or_default();
        pages.push(format!("== {name}\n{}", text.replace(GLOBAL, "").trim_end()));
        let is_shown = |command: &&clap::Command| command.get_name() != "help" && !command.is_hide_set();
        command.get_subcommands().filter(is_shown).for_each(|command| add_pages(command, pages));
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "most of them are the help pages")]
    fn every_command_has_its_help() {
        let mut hob = command().term_width(100);
        hob.build();
        let mut pages = Vec::new();
        add_pages(&hob, &mut pages);
        insta::assert_snapshot!(pages.join("\n\n"), @"
        == 
        Work on GitHub issues labelled `code`: claim them, run an agent and the checks, open pull requests

        Usage: hob [OPTIONS] <COMMAND>

        Get started:
          rehearse     Run the whole loop on an embedded forge, with no account or token
          init         Make a repository ready: create labels, and open one pull request
          doctor       Check token, permissions, agents and models, and say what to fix

        Work:
          run          Poll for issues and work on them, or on the given ones

        Issues:
          status       List the issues: what runs, what waits for whom, what was spent
          explain      Explain what Hob would do about an issue, or why it does nothing
          audit        Print who authorized what, what it cost, what was published
          outcomes     Print what came of the work: merged, rejected, waiting, and cost
          flakes       List the checks and tests that fail on unchanged code at times
          verify       Check the statement of a pull request, and who vouches for it
          answer       Answer a blocked issue and requeue it
          approve      Approve the action or the plan that a blocked issue asks for
          pause        Pause an issue, a session, or with `--all` the repository
          resume       Resume an issue, a session, or with `--all` the repository
          cancel       End the work on an issue, or a session, for good

        Advanced:
          session      List, show, follow and replay the agents' sessions on this machine
          agent        List agents and profiles, run an agent by itself, investigate
          models       List models with windows, efforts, prices and retirement dates
          eval         Evaluate an agent, the router or the reviewer
          forge        Run the embedded forge by itself
          config       Print the settings, or the JSON schema of a settings file
          completions  Print the completions of a shell

        Options:
              --config <FILE>      Read settings from this file [default: HOB_CONFIG, else
                                   ~/.config/hob/hob.toml, else /etc/hob/hob.toml]; variables
                                   HOB__SECTION__KEY and flags override it
              --repo <OWNER/NAME>  Work on this repository [default: GITHUB_REPOSITORY, else the setting
                                   `repositories`, else all repositories of the GitHub App, else the git
                                   remote `origin`]. May be repeated for `run`, `status`, `outcomes` and
                                   `agent routing`
              --json               Write results, events and errors to standard output as JSON, one object a
                                   line (docs/json.md)
          -q, --quiet              Show no progress, only results and failures
          -v, --verbose            Show each turn and tool of the agents too
              --color <WHEN>       Colour the output. By default that follows the terminal, NO_COLOR and
                                   CLICOLOR_FORCE [default: auto] [possible values: auto, always, never]
              --state-dir <DIR>    Keep mirrors, checkouts and transcripts in this folder [default:
                                   ~/.local/state/hob]
              --set <KEY=VALUE>    Override one setting, for example `--set limits.attempts=1`. May be
                                   repeated
          -h, --help               Print help (see more with '--help')
          -V, --version            Print version

        `hob help COMMAND` explains a command.

        == hob rehearse
        Run the whole loop on an embedded forge, with no account or token

        Usage: hob rehearse [OPTIONS]

        Options:
              --folder <PATH>  Work on a copy of the git repository in this folder. Needs `--task FILE`
              --task <FILE>    Work on the issue in this Markdown file, whose first line is the title. Needs
                               `--folder PATH`
              --agent <NAME>   Use this agent
              --keep           Keep the forge running after the rehearsal, to look at it in a browser, until
                               Ctrl-C
              --auto-approve   Approve every action that is not denied, without asking
              --record <DIR>   Record the model replies of native agents in this folder, one file per
                               session. The model `cassette/FILE` plays one back
          -h, --help           Print help (see more with '--help')

        == hob init
        Make a repository ready: create labels, and open one pull request

        Usage: hob init [OPTIONS]

        Options:
              --dry-run      Print the files and what would be done, without writing anything
              --no-workflow  Leave out the workflow: Hob will not run in GitHub Actions
          -h, --help         Print help (see more with '--help')

        == hob doctor
        Check token, permissions, agents and models, and say what to fix

        Usage: hob doctor [OPTIONS]

        Options:
              --ask-model          Ask the agent's model one short question too. It costs a few tokens, and
                                   proves key, name and address
              --live <OWNER/NAME>  Instead, compare the forge's answers with what Hob assumes about GitHub,
                                   in a repository that `--repo` names as well. It makes a branch, a ref, a
                                   label, an issue with a comment and a pull request there, and closes or
                                   deletes them again
          -h, --help               Print help (see more with '--help')

        == hob run
        Poll for issues and work on them, or on the given ones

        Usage: hob run [OPTIONS] [ISSUE]...

        Arguments:
          [ISSUE]...  Work on these issues alone, one attempt each, and report the results. Each needs the
                      trigger label

        Options:
              --sequential          Work on the given issues one after the other, and stop at the first that
                                    does not get a pull request
              --once                Poll once, work on what is ready, and exit
              --dry-run             Show what would be done, without writing anything
              --jobs <N>            Work on at most this many issues at a time, over all repositories
                                    [default: the setting `jobs`]
              --limit <N>           Exit after this many issues
              --time <DURATION>     Exit after this time, for example `50m`. As on SIGTERM, issues in
                                    progress are requeued for the next run
              --agent <NAME>        Use this agent, regardless of labels and settings
              --auto-approve        Approve every action that is not denied, without asking
              --record <DIR>        Record the model replies of native agents in this folder, one file per
                                    session. The model `cassette/FILE` plays one back
              --metrics <FILE>      Write metrics for Prometheus, in OpenMetrics' text format, to this file,
                                    every 15 seconds and at the end
              --listen [<ADDRESS>]  Serve a page at `http://ADDRESS/`, with an API and metrics
                                    (docs/api.md), and take webhooks. A port alone is one of this machine's.
                                    To answer and pause there, for other machines and for webhooks, set
                                    HOB_LISTEN_TOKEN, or the file HOB_LISTEN_TOKEN_FILE [default address:
                                    127.0.0.1:4620]
              --traces <FILE>       Append traces to this file, as lines of OpenTelemetry's JSON.
                                    OTEL_EXPORTER_OTLP_ENDPOINT sends them to a collector
              --metrics-totals      Sum the metrics over all repositories, without the label `repository`
          -h, --help                Print help (see more with '--help')

        == hob status
        List the issues: what runs, what waits for whom, what was spent

        Usage: hob status [OPTIONS]

        Options:
              --state <STATE>     List only the issues in this state. May be repeated [possible values: new,
                                  ready, assigned, in-progress, in-review, blocked, done]
              --since <DURATION>  List only the issues whose ledger has not moved for this long, such as 2d
              --ready             List only the issues that may be claimed now, for an engine that starts a
                                  `hob run ISSUE` for each
              --limit <N>         With `--ready`, list at most this many issues, from the front of the queue
              --shard <I/N>       With `--ready`, list only this part of all issues, by their numbers: 1/4
                                  to 4/4 are four parts
              --forget-memory     First forget what Hob saw work in the repositories, such as commands of
                                  tests and times of checks, and what maintainers corrected in reviews
              --watch             Draw it in place on the terminal until Ctrl-C, one line an issue, and look
                                  again as often as polls do
          -h, --help              Print help (see more with '--help')

        == hob explain
        Explain what Hob would do about an issue, or why it does nothing

        Usage: hob explain [OPTIONS] <ISSUE>

        Arguments:
          <ISSUE>  The number of the issue

        Options:
              --history  Print the issue's ledger instead, one line per step
          -h, --help     Print help

        == hob audit
        Print who authorized what, what it cost, what was published

        Usage: hob audit [OPTIONS] [ISSUE]

        Arguments:
          [ISSUE]  The number of the issue [default: all that have a ledger]

        Options:
              --html <FILE>  Write the issue's flight record to this file: one HTML page for a bug report
          -h, --help         Print help (see more with '--help')

        == hob outcomes
        Print what came of the work: merged, rejected, waiting, and cost

        Usage: hob outcomes [OPTIONS]

        Options:
              --by <GROUP>  Print a row for each of these [default: agent] [possible values: agent, model,
                            profile, label, week]
              --csv         Print CSV instead, a line for each issue
          -h, --help        Print help (see more with '--help')

        == hob flakes
        List the checks and tests that fail on unchanged code at times

        Usage: hob flakes

        Options:
          -h, --help  Print help (see more with '--help')

        == hob verify
        Check the statement of a pull request, and who vouches for it

        Usage: hob verify [OPTIONS] <PULL|FILE>

        Arguments:
          <PULL|FILE>  The number of a pull request or of its issue, whose statement is in the ledger; or a
                       file with a statement in its envelope

        Options:
              --rerun       Make the four runs again, in the same tier of the sandbox, and say what differs
              --key <FILE>  The public Ed25519 key that has to have signed it: a `.pub` file, or OpenSSH's
                            allowed signers
          -h, --help        Print help (see more with '--help')

        == hob answer
        Answer a blocked issue and requeue it

        Usage: hob answer [OPTIONS] <ISSUE>

        Arguments:
          <ISSUE>  The number of the issue

        Options:
          -m, --message <TEXT>  Answer this: the agent's next brief contains it beside the question. Without
                                it, the issue is tried again unchanged, as by the comment `/hob retry`
          -h, --help            Print help (see more with '--help')

        == hob approve
        Approve the action or the plan that a blocked issue asks for

        Usage: hob approve [OPTIONS] <ISSUE>

        Arguments:
          <ISSUE>  The number of the issue

        Options:
          -m, --message <TEXT>  Tell the agent this along with the approval
          -h, --help            Print help (see more with '--help')

        == hob pause
        Pause an issue, a session, or with `--all` the repository

        Usage: hob pause [OPTIONS] <ISSUE|SESSION|--all>

        Arguments:
          [ISSUE|SESSION]  The number of the issue, or a session on this machine of `hob agent investigate`
                           or `hob agent run`

        Options:
              --all             Pause the repository: no worker claims an issue until it is resumed
          -m, --message <TEXT>  Give a reason, shown on the issue and by `hob explain`
          -h, --help            Print help (see more with '--help')

        == hob resume
        Resume an issue, a session, or with `--all` the repository

        Usage: hob resume <ISSUE|SESSION|--all>

        Arguments:
          [ISSUE|SESSION]  The number of the issue, or a session on this machine of `hob agent investigate`
                           or `hob agent run`

        Options:
              --all   Resume the repository: workers claim issues again. Issues that were paused by their
                      number stay paused
          -h, --help  Print help (see more with '--help')

        == hob cancel
        End the work on an issue, or a session, for good

        Usage: hob cancel <ISSUE|SESSION>

        Arguments:
          <ISSUE|SESSION>  The number of the issue, or a session on this machine of `hob agent investigate`
                           or `hob agent run`

        Options:
          -h, --help  Print help (see more with '--help')

        == hob session
        List, show, follow and replay the agents' sessions on this machine

        Usage: hob session <COMMAND>

        Commands:
          list    List the agent sessions on this machine, latest first
          show    Show one session: state, limits, cost, time and outcome
          log     Print a session's transcript, one line per event
          replay  Run a session's tool calls again, without a model, and report which results differ
          help    Print this message or the help of the given subcommand(s)

        Options:
          -h, --help  Print help

        == hob session list
        List the agent sessions on this machine, latest first

        Usage: hob session list

        Options:
          -h, --help  Print help

        == hob session show
        Show one session: state, limits, cost, time and outcome

        Usage: hob session show <SESSION>

        Arguments:
          <SESSION>  The id of a session or a unique prefix of it, or the number of an issue, for its latest
                     session

        Options:
          -h, --help  Print help

        == hob session log
        Print a session's transcript, one line per event

        Usage: hob session log [OPTIONS] [SESSION]

        Arguments:
          [SESSION]  The id of a session or a unique prefix of it, or the number of an issue, for its latest
                     session

        Options:
              --all     Print the transcripts of all sessions, the oldest first; with `--json`, an export
          -f, --follow  Follow the transcript until the current run ends
              --full    Print each event in full instead of on one line
          -h, --help    Print help

        == hob session replay
        Run a session's tool calls again, without a model, and report which results differ

        Usage: hob session replay --folder <DIR> <SESSION>

        Arguments:
          <SESSION>  The id of a session or a unique prefix of it, or the number of an issue, for its latest
                     session

        Options:
              --folder <DIR>  Run the calls in this folder. They change it: use a fresh clone
          -h, --help          Print help

        == hob agent
        List agents and profiles, run an agent by itself, investigate

        Usage: hob agent <COMMAND>

        Commands:
          list         List the agents and profiles, where each profile comes from, and why one is not used
          run          Have an agent work on a task in a folder, and print how that ended
          investigate  Investigate a case without a forge: establish the facts, with evidence, and report
                       the conclusion
          routing      Show which profile was chosen for each issue, by whom and why, where people chose
                       otherwise, and how often the router was right
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help  Print help

        == hob agent list
        List the agents and profiles, where each profile comes from, and why one is not used

        Usage: hob agent list [OPTIONS]

        Options:
              --profiles <DIR>  Read the operator's profiles from this folder [default: the setting
                                `profiles.folder`]
          -h, --help            Print help (see more with '--help')

        == hob agent run
        Have an agent work on a task in a folder, and print how that ended

        Usage: hob agent run [OPTIONS] --folder <DIR> --task <FILE>

        Options:
              --folder <DIR>      Work in this folder
              --task <FILE>       Read the task from this Markdown file; its first line is the title. `-` is
                                  standard input
              --resume <SESSION>  Resume this session of `hob agent run`: an id or a unique prefix of it
              --agent <NAME>      Use this agent [default: the setting `agent`]
              --check <COMMAND>   Tell the agent that this command must succeed. May be repeated
              --image <FILE>      Show this image (PNG, JPEG, GIF, WebP) to the model. May be repeated
              --time <DURATION>   End after this time [default: the setting `limits.attempt_time`]
              --auto-approve      Approve every action that is not denied, without asking
              --record <DIR>      Record the model replies of native agents in this folder, one file per
                                  session. The model `cassette/FILE` plays one back
          -h, --help              Print help (see more with '--help')

        == hob agent investigate
        Investigate a case without a forge: establish the facts, with evidence, and report the conclusion

        Usage: hob agent investigate [OPTIONS]

        Options:
              --task <FILE>       Investigate the case in this Markdown file; its first line is the title
              --evidence <FILE>   Give this text file as evidence. May be repeated
              --form <FILE>       Ask the questions of this issue form, and read their answers from that
                                  file
              --profile <NAME>    Investigate by this profile: of the clone around the current folder, the
                                  setting `profiles.folder`, or Hob's own
              --profiles <DIR>    Read the operator's profiles from this folder [default: the setting
                                  `profiles.folder`]
              --folder <DIR>      Let the agent look into this folder [default: an empty one]
              --resume <SESSION>  Resume the investigation of this session: an id or a unique prefix of it
          -m, --message <TEXT>    Answer what the investigation asked for. It becomes evidence
              --agent <NAME>      Use this agent [default: the setting `agent`]
              --iterations <N>    End after this many iterations, over all runs of the session [default: the
                                  agent's `max_iterations`, else 50]
              --time <DURATION>   End after this time [default: the setting `limits.attempt_time`]
              --auto-approve      Approve every action that is not denied, without asking
              --out <FILE>        Write the report as Markdown to this file, too
              --record <DIR>      Record the model replies of native agents in this folder, one file per
                                  session. The model `cassette/FILE` plays one back
          -h, --help              Print help (see more with '--help')

        == hob agent routing
        Show which profile was chosen for each issue, by whom and why, where people chose otherwise, and how
        often the router was right

        Usage: hob agent routing

        Options:
          -h, --help  Print help

        == hob models
        List models with windows, efforts, prices and retirement dates

        Usage: hob models [NAME]

        Arguments:
          [NAME]  List only models whose names hold this text, or else what is known of a model of this name

        Options:
          -h, --help  Print help (see more with '--help')

        == hob eval
        Evaluate an agent, the router or the reviewer

        Usage: hob eval <COMMAND>

        Commands:
          run      Have an agent work on tasks with hidden tests, several at once, and report how many it
                   solves and what that costs
          compare  Compare evaluations: a line for each, and for two of them the tasks that only one solved,
                   by pairs
          routing  Route labelled issues, and report how often the right profile was chosen, how sure the
                   router was, and how long it took
          review   Have the reviewer read changes with known defects, and report what it found, what it
                   missed, and its false alarms
          help     Print this message or the help of the given subcommand(s)

        Options:
          -h, --help  Print help

        == hob eval run
        Have an agent work on tasks with hidden tests, several at once, and report how many it solves and
        what that costs

        Usage: hob eval run [OPTIONS] <PATH>

        Arguments:
          <PATH>  A task's folder, a folder of tasks, or a file of SWE-bench's instances (JSON lines)

        Options:
              --agent <NAME>            Evaluate this agent [default: the setting `agent`]
              --results <DIR>           Keep the results in this folder; an interrupted run continues there
                                        [default: eval-results/PATH-AGENT]
              --attempts <K>            Try each task this many times, and estimate how likely one of
                                        several attempts solves it (pass@k); with `--check`, each has to be
                                        usable every time [default: 1]
              --check                   Have no agent work on the tasks: see whether each task's own
                                        solution gives 1 and doing nothing gives 0, and say which tasks are
                                        unusable here, and why
              --baseline <WHAT>         Evaluate doing nothing, or each task's own solution, in place of an
                                        agent [possible values: nothing, solution]
              --jobs <N>                Try this many tasks at once [default: the number of processors]
              --only <TEXT>             Take only tasks whose names hold this text. May be repeated
              --limit <N>               Take only this many tasks, the first by name
              --time <DURATION>         End an agent after this time, unless its task sets a shorter one
                                        [default: the setting `limits.attempt_time`]
              --assume-built            Use this machine in place of the image that a task's Dockerfile
                                        builds; `RUN` lines are not run
              --repositories <DIR>      Take the repositories of SWE-bench's instances from this folder,
                                        where they are clones named OWNER__NAME, OWNER/NAME or NAME
              --test-command <COMMAND>  Run the tests of SWE-bench's instances with this command, such as
                                        `python -m pytest {tests}`
              --recorded                Play each task's `recording.json` instead of asking a model, which
                                        shows that the tasks can be solved
              --auto-approve            Approve every action that is not denied; without it such an action
                                        ends the trial
              --record <DIR>            Record the model replies of native agents in this folder, one file
                                        per session. The model `cassette/FILE` plays one back
          -h, --help                    Print help (see more with '--help')

        == hob eval compare
        Compare evaluations: a line for each, and for two of them the tasks that only one solved, by pairs

        Usage: hob eval compare <RESULTS>...

        Arguments:
          <RESULTS>...  Folders with the results of evaluations

        Options:
          -h, --help  Print help

        == hob eval routing
        Route labelled issues, and report how often the right profile was chosen, how sure the router was,
        and how long it took

        Usage: hob eval routing --profiles <DIR> <FILE>

        Arguments:
          <FILE>  The labelled issues, one JSON object a line

        Options:
              --profiles <DIR>  The folder with the profiles, one Markdown file each
          -h, --help            Print help (see more with '--help')

        == hob eval review
        Have the reviewer read changes with known defects, and report what it found, what it missed, and its
        false alarms

        Usage: hob eval review [OPTIONS] <FILE>

        Arguments:
          <FILE>  The changes, one JSON object a line

        Options:
              --model <MODEL>  The model to ask, such as `anthropic/MODEL` or `cassette/PATH`, in place of
                               the reviewer's own
          -h, --help           Print help (see more with '--help')

        == hob forge
        Run the embedded forge by itself

        Usage: hob forge <COMMAND>

        Commands:
          serve  Serve a GitHub-compatible forge until interrupted
          help   Print this message or the help of the given subcommand(s)

        Options:
          -h, --help  Print help

        == hob forge serve
        Serve a GitHub-compatible forge until interrupted

        Usage: hob forge serve [OPTIONS]

        Options:
              --listen <ADDRESS>
                  Listen on this address; port 0 picks a free one [default: 127.0.0.1:0]
              --data <DIR>
                  Keep the data in this folder. Without it, the data ends with the process
              --user <LOGIN:TOKEN[:ROLE[:KIND]]>
                  Add an account with this token. Roles are read, triage, write, maintain and admin. Kinds
                  are bot, fine-grained (a person's fine-grained token) and job (the token of a job of
                  Actions). May be repeated
              --app <ID:INSTALLATION:SLUG:ROLE:KEYFILE>
                  Add a GitHub App with its installation and key file (PEM; the public half is enough). May
                  be repeated
              --seed <FILE>
                  Begin with the accounts and repositories of this TOML file. Repositories that exist stay
                  as they are
              --rate-limit <N>
                  Limit each account to this many requests per hour
              --webhook <URL>
                  Send webhooks to this address
              --webhook-secret <SECRET>
                  Sign webhooks with this secret
              --faults <FILE>
                  Inject the faults that this JSON file lists
              --moods <all|NAME[,NAME…][@SEED]>
                  Behave as the real GitHub does on a bad day: all or some moods, drawn from this seed
          -h, --help
                  Print help

        == hob config
        Print the settings, or the JSON schema of a settings file

        Usage: hob config <COMMAND>

        Commands:
          show    Print what differs from the defaults, and where each value comes from
          schema  Print the JSON schema of a settings file, for editors
          help    Print this message or the help of the given subcommand(s)

        Options:
          -h, --help  Print help

        == hob config show
        Print what differs from the defaults, and where each value comes from

        Usage: hob config show [OPTIONS]

        Options:
              --all   Print every setting with its effective value instead
          -h, --help  Print help

        == hob config schema
        Print the JSON schema of a settings file, for editors

        Usage: hob config schema [FILE]

        Arguments:
          [FILE]  Whose file: the operator's, or a repository's `.github/hob.toml` [default: operator]
                  [possible values: operator, repository]

        Options:
          -h, --help  Print help (see more with '--help')

        == hob completions
        Print the completions of a shell

        Usage: hob completions <SHELL>

        Arguments:
          <SHELL>  The shell [possible values: bash, elvish, fish, powershell, zsh]

        Options:
          -h, --help  Print help (see more with '--help')
        ");
    }
}
