//! The mood `large-files`: a push with a file of more than 100 MiB is refused, by a hook of git's that the push runs.
//! <https://docs.github.com/repositories/working-with-files/managing-large-files/about-large-files-on-github>

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tokio::process::Command;

/// The script of the hook. It reads the pushed objects before any ref moves; git passes its output on as `remote:`.
const PRE_RECEIVE: &str = r#"#!/bin/sh
large=$(while read -r old new name; do
  case $new in *[!0]*) git rev-list --objects "$new" --not --all ;; esac
done | git cat-file --batch-check='%(objecttype) %(objectsize) %(rest)' | while read -r kind size path; do
  [ "$kind" = blob ] && [ "$size" -gt 104857600 ] || continue
  hundredths=$((size * 100 / 1048576))
  printf "error: File %s is %d.%02d MB; this exceeds GitHub's file size limit of 100.00 MB\n" \
    "$path" $((hundredths / 100)) $((hundredths % 100))
done)
[ -z "$large" ] && exit 0
printf 'error: See https://gh.io/lfs for more information.\n%s\n' "$large" >&2
printf 'error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.\n' >&2
exit 1
"#;

/// The folder of the hook, made below `folder`.
pub(super) async fn hooks(folder: &Path) -> io::Result<PathBuf> {
    let hooks = folder.join("hooks");
    let hook = hooks.join("pre-receive");
    if !hook.exists() {
        fs::create_dir_all(&hooks)?;
        let [text, new] = [(); 2].map(|()| tempfile::NamedTempFile::new_in(&hooks).map(|file| file.into_temp_path()));
        let (text, new) = (text?, new?);
        fs::write(&text, PRE_RECEIVE)?;
        // Another process writes what is run: a git that is started while this one has the file open to write has it open,
        // too, and what is open to write cannot be run.
        #[expect(clippy::disallowed_methods, reason = "this crate depends on no other crate of the workspace")]
        let mut install = Command::new("install");
        let made = install.args(["-m", "755"]).args([&text, &new]).status().await?;
        if !made.success() {
            return Err(io::Error::other(format!("`install` of git's hook ended with {made}")));
        }
        // Whole or not at all: another push may be about to run it.
        fs::rename(&new, &hook)?;
    }
    Ok(hooks)
}
