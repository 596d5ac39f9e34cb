//! A copy of what a child wrote, whatever it wrote.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, PermissionsExt, symlink},
    path::Path,
};

/// What the owner needs to fill a folder.
const OWN: u32 = 0o700;

/// Copies what is in the folder `from` into the folder `to`, for the owner. Links are copied as links; what is neither file,
/// folder nor link is left out, and so is what `to` has already.
///
/// # Errors
/// The system's, for what cannot be read or written.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let mut folders = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = folders.pop() {
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (from, to, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
            let there = match to.symlink_metadata() {
                Ok(found) => Some(found.file_type()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
            match there {
                Some(there) if kind.is_dir() && there.is_dir() => folders.push((from, to)),
                Some(_kept) => {}
                None if kind.is_dir() => {
                    let mode = entry.metadata()?.permissions().mode();
                    fs::DirBuilder::new().mode(mode | OWN).create(&to)?;
                    folders.push((from, to));
                }
                None if kind.is_symlink() => symlink(fs::read_link(&from)?, &to)?,
                None if kind.is_file() => drop(fs::copy(&from, &to)?),
                None => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn files_folders_and_links_are_copied_and_what_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::create_dir_all(to.join("a")).unwrap();
        fs::write(from.join("a/b/new"), "new").unwrap();
        fs::write(from.join("a/kept"), "other").unwrap();
        fs::write(to.join("a/kept"), "kept").unwrap();
        fs::set_permissions(from.join("a/b/new"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("/etc/shadow", from.join("link")).unwrap();
        let _socket = UnixListener::bind(from.join("socket")).unwrap();
        copy_tree(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("a/b/new")).unwrap(), "new");
        assert_eq!(fs::metadata(to.join("a/b/new")).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_to_string(to.join("a/kept")).unwrap(), "kept");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("/etc/shadow"));
        assert!(!to.join("socket").exists());
    }
}
