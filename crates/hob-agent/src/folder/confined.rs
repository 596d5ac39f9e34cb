//! Reading and writing files below one open folder.

use std::{
    fs::File,
    io::{Read, Write},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, Stat},
    io::Errno,
};

use crate::folder::{FileError, Inside};

/// One open folder. Clones share the descriptor.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    root: Arc<OwnedFd>,
    path: PathBuf,
    /// Where a sandbox shows it, too.
    also: Option<PathBuf>,
}

/// Whether missing folders on the way are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parents {
    Make,
    Expect,
}

impl Folder {
    /// Opens the folder at `path`; links on the way to it are followed, because Hob itself named it.
    pub(crate) fn open(path: &Path) -> Result<Self, FileError> {
        let shown = path.to_string_lossy();
        let path = path.canonicalize().map_err(|source| FileError::Io { path: shown.clone().into_owned(), source })?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(&path, flags, Mode::empty()).map_err(|errno| FileError::io(&shown, errno))?;
        Ok(Self { root: Arc::new(root), path, also: None })
    }

    /// The same folder, which a sandbox shows at another path, too: paths below that one are read as its own.
    #[must_use]
    pub(crate) fn shown_at(self, also: Option<&Path>) -> Self {
        Self { also: also.map(Path::to_owned), ..self }
    }

    /// Opens the folder at `path` on a thread for blocking work.
    pub(crate) async fn open_async(path: &Path) -> Result<Self, FileError> {
        let path = path.to_owned();
        let shown = path.to_string_lossy().into_owned();
        let opened = tokio::task::spawn_blocking(move || Self::open(&path)).await;
        opened.unwrap_or_else(|error| Err(FileError::Io { path: shown, source: error.into() }))
    }

    /// The folder's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads `text` as a path in this folder.
    pub(crate) fn inside(&self, text: &str) -> Result<Inside, FileError> {
        let also = self.also.as_deref().and_then(|also| Path::new(text).strip_prefix(also).ok()?.to_str());
        Inside::parse(&self.path, also.unwrap_or(text))
    }

    /// Opens a regular file of at most `max` bytes.
    pub(crate) fn open_file(&self, path: &Inside, max: u64) -> Result<File, FileError> {
        let (parent, name) = self.parent(path, Parents::Expect)?;
        let parent = parent.as_ref().map_or_else(|| self.root.as_fd(), AsFd::as_fd);
        // Checked before it is opened, because opening a device can have effects, and after, because it may have been
        // replaced.
        check(path, parent, name, max, &look(parent, name, path)?)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file =
            rustix::fs::openat(parent, name, flags, Mode::empty()).map_err(|e| FileError::io(&path.to_string(), e))?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| FileError::io(&path.to_string(), errno))?;
        check(path, parent, name, max, &stat)?;
        Ok(File::from(file))
    }

    /// Reads a text file of at most `max` bytes.
    pub(crate) fn read(&self, path: &Inside, max: u64) -> Result<String, FileError> {
        let mut bytes = Vec::new();
        let file = self.open_file(path, max)?;
        let shown = path.to_string();
        file.take(max + 1).read_to_end(&mut bytes).map_err(|source| FileError::Io { path: shown.clone(), source })?;
        if bytes.len() as u64 > max {
            return Err(FileError::TooBig { path: shown, size: bytes.len() as u64, max });
        }
        String::from_utf8(bytes).map_err(|_| FileError::NotText(shown))
    }

    /// Writes `text` to a file, new or replaced whole, and makes its parent folders. `mode` is for a new file; a
    /// replaced one keeps its own if `mode` is `None`.
    pub(crate) fn write(&self, path: &Inside, text: &str, mode: Option<u32>) -> Result<(), FileError> {
        let shown = path.to_string();
        let failed = |errno| FileError::io(&shown, errno);
        let (parent, name) = self.parent(path, Parents::Make)?;
        let parent = parent.as_ref().map_or_else(|| self.root.as_fd(), AsFd::as_fd);
        let old = match look(parent, name, path) {
            Ok(stat) => {
                check(path, parent, name, u64::MAX, &stat)?;
                Some(stat.st_mode & 0o777)
            }
            Err(FileError::Missing(_)) => None,
            Err(error) => return Err(error),
        };
        let temporary = format!(".hob-{:016x}", rand::random::<u64>());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode.or(old).unwrap_or(0o644));
        let mut file =
            File::from(rustix::fs::openat(parent, &temporary, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?);
        let written = file
            .write_all(text.as_bytes())
            .map_err(|source| FileError::Io { path: shown.clone(), source })
            .and_then(|()| rustix::fs::fchmod(&file, mode).map_err(failed))
            .and_then(|()| rustix::fs::renameat(parent, &temporary, parent, name).map_err(failed));
        if written.is_err() {
            // The first error is reported; a file left over shows in the diff.
            rustix::fs::unlinkat(parent, &temporary, AtFlags::empty()).ok();
        }
        written
    }

    /// Removes a file.
    pub(crate) fn remove(&self, path: &Inside) -> Result<(), FileError> {
        let (parent, name) = self.parent(path, Parents::Expect)?;
        let parent = parent.as_ref().map_or_else(|| self.root.as_fd(), AsFd::as_fd);
        check(path, parent, name, u64::MAX, &look(parent, name, path)?)?;
        rustix::fs::unlinkat(parent, name, AtFlags::empty()).map_err(|errno| FileError::io(&path.to_string(), errno))
    }

    /// The folder of a path's last name (`None` for this one), and that name.
    fn parent<'p>(&self, path: &'p Inside, parents: Parents) -> Result<(Option<OwnedFd>, &'p str), FileError> {
        let Some((name, folders)) = path.names().split_last() else {
            return Err(FileError::NotAFile { path: ".".into(), kind: "the folder" });
        };
        let mut open: Option<OwnedFd> = None;
        for (depth, folder) in folders.iter().enumerate() {
            let here = open.as_ref().map_or_else(|| self.root.as_fd(), AsFd::as_fd);
            let shown = || path.names()[..=depth].join("/");
            if parents == Parents::Make {
                match rustix::fs::mkdirat(here, folder, Mode::from_raw_mode(0o755)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(FileError::io(&shown(), errno)),
                }
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let next = rustix::fs::openat(here, folder, flags, Mode::empty()).map_err(|errno| match errno {
                // Depending on the system, a link answers with either.
                Errno::LOOP | Errno::NOTDIR => refusal(here, folder, &shown()),
                errno => FileError::io(&shown(), errno),
            })?;
            open = Some(next);
        }
        Ok((open, name))
    }
}

fn look(parent: BorrowedFd<'_>, name: &str, path: &Inside) -> Result<Stat, FileError> {
    rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| FileError::io(&path.to_string(), errno))
}

fn check(path: &Inside, parent: BorrowedFd<'_>, name: &str, max: u64, stat: &Stat) -> Result<(), FileError> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
            if size > max { Err(FileError::TooBig { path: path.to_string(), size, max }) } else { Ok(()) }
        }
        FileType::Symlink => Err(refusal(parent, name, &path.to_string())),
        kind => Err(FileError::NotAFile { path: path.to_string(), kind: kind_name(kind) }),
    }
}

/// Why `name` is not a folder or file to go through.
fn refusal(parent: BorrowedFd<'_>, name: &str, shown: &str) -> FileError {
    match rustix::fs::readlinkat(parent, name, Vec::new()) {
        Ok(target) => FileError::Link { path: shown.to_owned(), target: target.to_string_lossy().into_owned() },
        Err(_) => FileError::io(shown, Errno::NOTDIR),
    }
}

fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "something else",
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn tree() -> (tempfile::TempDir, tempfile::TempDir, Folder) {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret"), "canary").unwrap();
        std::fs::write(inside.path().join("a.txt"), "hello").unwrap();
        symlink(outside.path(), inside.path().join("out")).unwrap();
        symlink(outside.path().join("secret"), inside.path().join("file")).unwrap();
        let folder = Folder::open(inside.path()).unwrap();
        (inside, outside, folder)
    }

    #[test]
    fn a_path_below_the_place_where_a_sandbox_shows_it_is_its_own() {
        let (_inside, _outside, folder) = tree();
        assert!(matches!(folder.inside("/app/a.txt"), Err(FileError::Outside(_))));
        let folder = folder.shown_at(Some(Path::new("/app")));
        assert_eq!(folder.read(&folder.inside("/app/a.txt").unwrap(), 100).unwrap(), "hello");
        assert_eq!(folder.inside("/app").unwrap().to_string(), ".");
        for outside in ["/app/../etc/passwd", "/apple/a.txt", "/etc/passwd"] {
            assert!(matches!(folder.inside(outside), Err(FileError::Outside(_))), "{outside}");
        }
    }

    /// Attack corpus E55.
    #[test]
    fn no_link_leads_out_for_reading_writing_or_removing() {
        let (inside, outside, folder) = tree();
        for text in ["out/secret", "file"] {
            let path = folder.inside(text).unwrap();
            for error in [
                folder.read(&path, 100).unwrap_err(),
                folder.write(&path, "x", None).unwrap_err(),
                folder.remove(&path).unwrap_err(),
            ] {
                assert!(matches!(error, FileError::Link { .. }), "{error}");
            }
        }
        let new = folder.inside("out/new").unwrap();
        assert!(matches!(folder.write(&new, "x", None), Err(FileError::Link { .. })));
        assert_eq!(std::fs::read_to_string(outside.path().join("secret")).unwrap(), "canary");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
        assert_eq!(std::fs::read_dir(inside.path()).unwrap().count(), 3);
    }

    /// Attack corpus E66.
    #[test]
    fn what_is_no_file_or_too_big_is_a_bounded_error() {
        let (inside, _outside, folder) = tree();
        rustix::fs::mknodat(rustix::fs::CWD, inside.path().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0)
            .unwrap();
        std::fs::create_dir(inside.path().join("sub")).unwrap();
        File::create(inside.path().join("huge")).unwrap().set_len(1 << 40).unwrap();
        std::fs::write(inside.path().join("bytes"), [0xff, 0xfe]).unwrap();
        let read = |text: &str| folder.read(&folder.inside(text).unwrap(), 1 << 20).unwrap_err().to_string();
        assert_eq!(read("pipe"), "`pipe` is a FIFO, not a file");
        assert_eq!(read("sub"), "`sub` is a folder, not a file");
        assert!(read("huge").contains("1099511627776 bytes, more than"));
        assert_eq!(read("bytes"), "`bytes` is not text (UTF-8)");
        assert_eq!(read("none"), "`none` does not exist");
        assert_eq!(read("."), "`.` is the folder, not a file");
        assert!(read("a.txt/b").contains("a.txt"));
    }

    /// Attack corpus E54.
    #[test]
    fn a_folder_swapped_for_a_link_while_it_is_used_leads_nowhere() {
        use std::sync::atomic::{AtomicBool, Ordering};

        let (inside, outside, folder) = tree();
        std::fs::create_dir(inside.path().join("d")).unwrap();
        std::fs::write(inside.path().join("d/secret"), "inside").unwrap();
        let stop = AtomicBool::new(false);
        let path = folder.inside("d/secret").unwrap();
        let swap = || {
            rustix::fs::renameat_with(&*folder.root, "d", &*folder.root, "out", rustix::fs::RenameFlags::EXCHANGE)
                .unwrap()
        };
        // Counts of successes, of refusals, and of escapes to the outside.
        let (mut read, mut written) = ([0; 3], [0; 3]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    swap();
                }
            });
            // Nothing may fail before the other thread is told to stop.
            for n in 0..100_000 {
                if n % 20 == 0 {
                    written[usize::from(folder.write(&path, "inside", None).is_err())] += 1;
                }
                read[match folder.read(&path, 100).as_deref() {
                    Ok("inside") => 0,
                    Err(_) => 1,
                    Ok(_) => 2,
                }] += 1;
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(std::fs::read_to_string(outside.path().join("secret")).unwrap(), "canary");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
        let met = |[fine, refused, outside]: [u32; 3]| fine > 100 && refused > 100 && outside == 0;
        assert!(met(read) && met(written), "read {read:?}, written {written:?}");
    }

    #[test]
    fn a_replaced_file_keeps_its_mode_and_cuts_its_hard_links() {
        let (inside, outside, folder) = tree();
        let (script, twin) = (inside.path().join("run.sh"), outside.path().join("twin"));
        std::fs::write(&script, "old").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::hard_link(&script, &twin).unwrap();
        folder.write(&folder.inside("run.sh").unwrap(), "new", None).unwrap();
        folder.write(&folder.inside("deep/er/b.txt").unwrap(), "b", None).unwrap();
        assert_eq!(
            (std::fs::read_to_string(&script).unwrap(), std::fs::read_to_string(&twin).unwrap()),
            ("new".into(), "old".into())
        );
        assert_eq!(std::fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(std::fs::read_to_string(inside.path().join("deep/er/b.txt")).unwrap(), "b");
    }
}
