//! Where the flight record goes: standard output, or a file that is replaced as a whole.

use std::{fs, io::Write as _, path::Path};

use anyhow::Context as _;

use crate::cli::{
    exit::{Exit, fatal},
    output,
};

/// Writes the record to `to`, or to standard output if that is `-`. Only the owner can read the file: it has what agents said and did.
pub(in crate::cli) fn written(html: &str, to: &Path) -> anyhow::Result<()> {
    if to == Path::new("-") {
        return Ok(output::line(html.trim_end())?);
    }
    // A rename would replace a device, such as /dev/null.
    if fs::metadata(to).is_ok_and(|found| !found.is_file()) {
        return Err(fatal(Exit::Usage, format!("`{}` is not a file", to.display())));
    }
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = || format!("write the flight record `{}`", to.display());
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
    file.write_all(html.as_bytes()).and_then(|()| file.as_file().sync_all()).with_context(failed)?;
    file.persist(to).with_context(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_a_device_never() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("record.html");
        fs::write(&to, "a long text of before").unwrap();
        written("<p>", &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "<p>");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = written("<p>", folder.path()).unwrap_err();
        assert!(error.to_string().ends_with("is not a file"), "{error}");
        assert!(written("<p>", &folder.path().join("none/record.html")).is_err());
    }
}
