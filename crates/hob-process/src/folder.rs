//! A folder that a child may have written, held by its descriptor: operations apply to this folder, no matter what happens to
//! its path meanwhile, and no link leads out of it.

use std::{
    ffi::{CStr, CString, OsStr, OsString},
    fs::File,
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
    rc::Rc,
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, RenameFlags, Stat, fchmod, flistxattr, fstat, mkdirat,
        openat, readlinkat, renameat_with, statat, symlinkat,
    },
    io::Errno,
    path::Arg,
};

use crate::removal::{remove_at, unlocked};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Flags that open a file without blocking, as opening a pipe would.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
const CREATE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// The mode bits that are copied: set-user-ID and the like are not.
const PERMISSIONS: RawMode = 0o777;

/// A named entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    name: CString,
    kind: FileType,
}

impl Entry {
    /// Its name.
    pub fn name(&self) -> OsString {
        self.os_name().to_owned()
    }

    /// Its name, which it keeps.
    pub fn os_name(&self) -> &OsStr {
        OsStr::from_bytes(self.name.as_bytes())
    }

    /// Whether it is a folder, and no link to one.
    pub fn is_folder(&self) -> bool {
        self.kind == FileType::Directory
    }
}

/// An open folder.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// Opens the folder at `path`, which must not be a link. Everything before its last component must be Hob's own.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, path, FOLDER, Mode::empty())?))
    }

    /// Its entries.
    ///
    /// # Errors
    /// The system's error.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.kind_of(name)?,
                kind => kind,
            };
            entries.push(Entry { name: name.to_owned(), kind });
        }
        Ok(entries)
    }

    /// Opens a folder in it; `None` if it has no folder of that name, or the name is a link.
    ///
    /// # Errors
    /// The system's error.
    pub fn inner(&self, name: impl Arg) -> io::Result<Option<Self>> {
        match openat(&self.0, name, FOLDER, Mode::empty()) {
            Ok(folder) => Ok(Some(Self(folder))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a folder in it, and makes it if it does not exist; `None` if the name belongs to something else.
    ///
    /// # Errors
    /// The system's error.
    pub fn made(&self, name: impl Arg + Copy) -> io::Result<Option<Self>> {
        self.made_with(name, Mode::RWXU)
    }

    fn made_with(&self, name: impl Arg + Copy, mode: Mode) -> io::Result<Option<Self>> {
        match mkdirat(&self.0, name, mode) {
            Ok(()) | Err(Errno::EXIST) => self.inner(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the folder at this path in it, with its parents. Anything in their place that is not a folder is removed.
    ///
    /// # Errors
    /// The system's error.
    pub fn makes(&self, path: &Path) -> io::Result<Self> {
        let mut folder = Self(openat(&self.0, ".", FOLDER, Mode::empty())?);
        for name in path {
            folder = match folder.made(name)? {
                Some(inner) => inner,
                None => {
                    folder.removes(name)?;
                    folder.made(name)?.ok_or(io::ErrorKind::NotADirectory)?
                }
            };
        }
        Ok(folder)
    }

    /// Writes a file at this path in it, for the owner alone. Anything in its place is removed, and no link is
    /// followed.
    ///
    /// # Errors
    /// The system's error.
    pub fn writes(&self, path: &Path, text: &[u8]) -> io::Result<()> {
        let folder = self.makes(path.parent().unwrap_or(Path::new("")))?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        folder.removes(name)?;
        let file = openat(&folder.0, name, CREATE, Mode::RUSR | Mode::WUSR)?;
        File::from(file).write_all(text)
    }

    /// Removes the entry of this name, with everything in it; it is fine if there is none.
    ///
    /// # Errors
    /// The system's error.
    pub fn removes(&self, name: &OsStr) -> io::Result<()> {
        match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => remove_at(&self.0, name, FileType::from_raw_mode(found.st_mode as RawMode), &|| false),
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether there is an entry of this name.
    ///
    /// # Errors
    /// The system's error.
    pub fn has(&self, name: impl Arg) -> io::Result<bool> {
        match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_found) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// What the system knows of the entry of this name, itself if it is a link.
    ///
    /// # Errors
    /// The system's error.
    pub fn stat(&self, name: impl Arg) -> io::Result<Stat> {
        Ok(statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Whether it has extended attributes or access lists, other than the system's own labels.
    ///
    /// # Errors
    /// The system's error.
    pub fn has_attributes(&self) -> io::Result<bool> {
        let mut names = [0; 4096];
        match flistxattr(&self.0, &mut names) {
            Ok(length) => {
                let mut names = names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
                Ok(names.any(|name| !name.starts_with(b"security.")))
            }
            Err(Errno::NOTSUP) => Ok(false),
            // More than fits.
            Err(Errno::RANGE) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// The size in bytes of the file of this name, or of the file that a link of this name leads to. The inner `None`
    /// means that it is not a file, the outer one that nothing is there.
    ///
    /// # Errors
    /// The system's error.
    pub fn size_of_file(&self, name: impl Arg) -> io::Result<Option<Option<u64>>> {
        let found = match statat(&self.0, name, AtFlags::empty()) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::LOOP | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let is_file = FileType::from_raw_mode(found.st_mode as RawMode) == FileType::RegularFile;
        Ok(Some(is_file.then(|| u64::try_from(found.st_size).unwrap_or(0))))
    }

    /// The text of the file of this name; `None` unless that is a file of at most `max` bytes of UTF-8.
    ///
    /// # Errors
    /// The system's error.
    pub fn text(&self, name: impl Arg, max: u64) -> io::Result<Option<String>> {
        let file = match openat(&self.0, name, READ, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::LOOP | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = fstat(&file)?;
        let is_file = FileType::from_raw_mode(found.st_mode as RawMode) == FileType::RegularFile;
        if !is_file || u64::try_from(found.st_size).unwrap_or(u64::MAX) > max {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        // It may grow meanwhile.
        File::from(file).take(max).read_to_end(&mut bytes)?;
        Ok(String::from_utf8(bytes).ok())
    }

    /// Moves an entry into another folder of the same file system; `false` if that one has an entry of the same name.
    ///
    /// # Errors
    /// The system's error.
    pub fn moves(&self, entry: &Entry, to: &Self) -> io::Result<bool> {
        let moved = || renameat_with(&self.0, &entry.name, &to.0, &entry.name, RenameFlags::NOREPLACE);
        let moved = match moved() {
            // A folder that is moved is written to: its entry `..` changes.
            Err(Errno::ACCESS) if entry.is_folder() => {
                drop(unlocked(&self.0, &*entry.name)?);
                moved()
            }
            other => other,
        };
        match moved {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Copies an entry into another folder, for the owner. A link is copied as a link; anything but files, folders and
    /// links is left out, and so are names that the other folder has already.
    ///
    /// # Errors
    /// The system's error.
    pub fn copies(&self, entry: &Entry, to: &Self) -> io::Result<()> {
        match entry.kind {
            FileType::Directory => match self.inner_pair(&entry.name, to)? {
                Some((from, to)) => from.copies_all(to),
                None => Ok(()),
            },
            FileType::Symlink => self.copies_link(&entry.name, to),
            FileType::RegularFile => self.copies_file(&entry.name, to),
            _other => Ok(()),
        }
    }

    /// Copies all its contents, without recursion: folders may be nested deeper than a stack allows. A folder stays
    /// open while its folders wait for their turn.
    pub(super) fn copies_all(self, to: Self) -> io::Result<()> {
        let mut waiting: Vec<(Rc<(Self, Self)>, CString)> = Vec::new();
        let mut next = Some((self, to));
        while let Some(both) = next.take() {
            let both = Rc::new(both);
            for entry in both.0.entries()? {
                if entry.is_folder() {
                    waiting.push((Rc::clone(&both), entry.name));
                } else {
                    both.0.copies(&entry, &both.1)?;
                }
            }
            drop(both);
            while next.is_none()
                && let Some((above, name)) = waiting.pop()
            {
                next = above.0.inner_pair(&name, &above.1)?;
            }
        }
        Ok(())
    }

    /// The folder of this name in it, and one of the same name in the other, which is made if it does not exist; `None`
    /// if either is not a folder.
    fn inner_pair(&self, name: &CStr, to: &Self) -> io::Result<Option<(Self, Self)>> {
        let Some(from) = self.inner(name)? else { return Ok(None) };
        let mode = Mode::from_raw_mode(fstat(&from.0)?.st_mode as RawMode & PERMISSIONS) | Mode::RWXU;
        Ok(to.made_with(name, mode)?.map(|to| (from, to)))
    }

    fn copies_file(&self, name: &CStr, to: &Self) -> io::Result<()> {
        let from = openat(&self.0, name, READ, Mode::empty())?;
        let found = fstat(&from)?;
        // What was a file a moment ago may now be a pipe.
        if FileType::from_raw_mode(found.st_mode as RawMode) != FileType::RegularFile {
            return Ok(());
        }
        let mut file = match openat(&to.0, name, CREATE, Mode::RUSR | Mode::WUSR) {
            Ok(file) => File::from(file),
            Err(Errno::EXIST) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        io::copy(&mut File::from(from), &mut file)?;
        Ok(fchmod(&file, Mode::from_raw_mode(found.st_mode as RawMode & PERMISSIONS))?)
    }

    fn copies_link(&self, name: &CStr, to: &Self) -> io::Result<()> {
        let target = readlinkat(&self.0, name, Vec::new())?;
        match symlinkat(&*target, &to.0, name) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn kind_of(&self, name: &CStr) -> io::Result<FileType> {
        Ok(FileType::from_raw_mode(statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode as RawMode))
    }
}
