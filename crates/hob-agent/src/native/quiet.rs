//! Variables by which programs neither wait for a person nor draw: without pagers, editors, questions and progress bars.

use hob_process::Environment;

/// The variables. Git's own have precedence over its settings, so none of these starts a pager or an editor either. An editor that
/// does nothing leaves git's proposal: a rebase goes on, and a commit without a message is refused with its reason.
const QUIET: [(&str, &str); 27] = [
    // As in the checks: many programs know by it that nobody watches.
    ("CI", "true"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", ""),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_MERGE_AUTOEDIT", "no"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "true"),
    ("SSH_ASKPASS", "true"),
    ("GH_PROMPT_DISABLED", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("COMPOSER_NO_INTERACTION", "1"),
    ("PIP_NO_INPUT", "1"),
    ("PIP_PROGRESS_BAR", "off"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("NPM_CONFIG_YES", "true"),
    ("NPM_CONFIG_PROGRESS", "false"),
    ("NPM_CONFIG_FUND", "false"),
    ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ("TQDM_DISABLE", "1"),
];

/// Adds them, except those that are set.
pub(super) fn quiet(environment: &mut Environment) {
    for (name, value) in QUIET {
        environment.entry(name.into()).or_insert_with(|| value.into());
    }
}
