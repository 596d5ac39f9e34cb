//! What a Dockerfile says of the folder that an agent begins with: its place, and what is copied there. Nothing is built; what cannot be had
//! without that is told.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use crate::engine::ROOT;

/// A `COPY` of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copied {
    /// A path in the context.
    pub(crate) from: PathBuf,
    /// A path below the workdir.
    pub(crate) to: PathBuf,
    /// Whether that is a folder, which a file is put into by its name.
    pub(crate) into: bool,
}

/// What is known of an image without building it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    /// `WORKDIR`.
    pub(crate) workdir: PathBuf,
    /// What is copied.
    pub(crate) copies: Vec<Copied>,
    /// `ENV`.
    pub(crate) environment: BTreeMap<String, String>,
    /// The first `RUN` line; none: there is none.
    pub(crate) runs: Option<String>,
}

/// What of a Dockerfile cannot be done without a container.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NeedsContainer {
    #[error("its Dockerfile names no `WORKDIR`")]
    NoWorkdir,
    #[error("its Dockerfile copies to `{}`, outside `{}`", to.display(), workdir.display())]
    Outside { to: PathBuf, workdir: PathBuf },
    #[error("its Dockerfile has `COPY {line}`: {why}")]
    Copy { line: String, why: CopyFault },
}

/// Why a `COPY` cannot be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyFault {
    #[error("that list cannot be read: {0}")]
    List(#[source] serde_json::Error),
    #[error("another image's files need a container")]
    OtherImage,
    #[error("`{0}` needs a container")]
    Flag(String),
    #[error("a file in the Dockerfile needs a container")]
    HereDocument,
    #[error("`ADD` unpacks an archive, which needs a container")]
    Archive,
    #[error("it names no place")]
    NoPlace,
    #[error("only files and folders of the task are copied, by their names")]
    NotByName,
}

/// How the names of archives end that `ADD` unpacks.
const ARCHIVES: [&str; 8] = [".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst"];

/// Reads a Dockerfile.
pub(crate) fn read(text: &str) -> Result<Image, NeedsContainer> {
    let (mut workdir, mut copies, mut environment, mut runs) = (PathBuf::from("/"), Vec::new(), BTreeMap::new(), None);
    // Variables of the build, which the image does not have.
    let mut arguments = BTreeMap::new();
    for line in lines(text) {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        let rest = rest.trim();
        let known: BTreeMap<String, String> = arguments.clone().into_iter().chain(environment.clone()).collect();
        match word.to_ascii_uppercase().as_str() {
            // Lines before the last stage do not affect the image.
            "FROM" => {
                (workdir, copies, environment, runs) = ("/".into(), Vec::new(), BTreeMap::new(), None);
                arguments.clear();
            }
            "WORKDIR" => workdir = normal(&workdir.join(expanded(rest, &known))),
            instruction @ ("COPY" | "ADD") => {
                let fault = |why| NeedsContainer::Copy { line: rest.to_owned(), why };
                let found = copied(&expanded(rest, &known), &workdir).map_err(fault)?;
                // `ADD` unpacks an archive.
                let is_archive =
                    |copied: &Copied| ARCHIVES.iter().any(|end| copied.from.to_string_lossy().ends_with(end));
                if instruction == "ADD" && found.iter().any(is_archive) {
                    return Err(fault(CopyFault::Archive));
                }
                copies.extend(found);
            }
            "ARG" => {
                arguments.extend(variables(rest).into_iter().map(|(name, value)| (name, expanded(&value, &known))))
            }
            // All values of a line see what was set before the line.
            "ENV" => {
                environment.extend(variables(rest).into_iter().map(|(name, value)| (name, expanded(&value, &known))))
            }
            "RUN" if runs.is_none() => runs = Some(rest.to_owned()),
            _other => {}
        }
    }
    if workdir == Path::new("/") {
        return Err(NeedsContainer::NoWorkdir);
    }
    let below = |copied: Copied| match copied.to.strip_prefix(&workdir) {
        Ok(to) => Ok(Copied { to: to.to_owned(), ..copied }),
        Err(_) => Err(NeedsContainer::Outside { to: copied.to, workdir: workdir.clone() }),
    };
    let copies = copies.into_iter().map(below).collect::<Result<_, _>>()?;
    Ok(Image { workdir, copies, environment, runs })
}

/// What the last stage of a Dockerfile sets that no box can do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LastStage {
    /// Whether the image starts a program of its own, of which a command is only an argument.
    pub(crate) has_entrypoint: bool,
    /// The user of its commands, if that is not root.
    pub(crate) user: Option<String>,
}

/// Reads it.
pub(crate) fn last_stage(text: &str) -> LastStage {
    lines(text).into_iter().fold(LastStage::default(), |found, line| {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        match word.to_ascii_uppercase().as_str() {
            "FROM" => LastStage::default(),
            "ENTRYPOINT" => LastStage { has_entrypoint: true, ..found },
            "USER" => {
                LastStage { user: Some(rest.trim().to_owned()).filter(|user| !ROOT.contains(&user.as_str())), ..found }
            }
            _other => found,
        }
    })
}

/// The instructions, a line each, without comments.
fn lines(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = String::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        match line.trim_end().strip_suffix('\\') {
            Some(begins) => open.push_str(&format!("{begins} ")),
            None => {
                open.push_str(line);
                all.push(std::mem::take(&mut open).trim().to_owned());
            }
        }
    }
    all.push(open.trim().to_owned());
    all.retain(|line| !line.is_empty());
    all
}

fn copied(rest: &str, workdir: &Path) -> Result<Vec<Copied>, CopyFault> {
    let (flags, list) =
        rest.split_at(rest.find('[').filter(|at| rest[..*at].split_whitespace().all(is_flag)).unwrap_or(0));
    let mut words: Vec<String> = match list.starts_with('[') {
        true => serde_json::from_str(list).map_err(CopyFault::List)?,
        false => list.split_whitespace().map(str::to_owned).collect(),
    };
    let all = flags.split_whitespace().chain(words.iter().map(String::as_str).take_while(|word| is_flag(word)));
    for flag in all.map(|flag| flag.split('=').next().unwrap_or(flag)) {
        match flag {
            "--from" => return Err(CopyFault::OtherImage),
            // Whose the files are makes no difference in a box, nor do layers.
            "--chown" | "--link" => {}
            other => return Err(CopyFault::Flag(other.to_owned())),
        }
    }
    words.retain(|word| !is_flag(word));
    if words.iter().any(|word| word.starts_with("<<")) {
        return Err(CopyFault::HereDocument);
    }
    let to = words.pop().filter(|_| !words.is_empty()).ok_or(CopyFault::NoPlace)?;
    let into = to.ends_with('/') || to == "." || words.len() > 1;
    let to = normal(&workdir.join(&to));
    let one = |from: String| {
        let path = Path::new(from.trim_start_matches('/'));
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !is_inside || from.contains(['*', '?', '[', '$']) || from.contains("://") {
            return Err(CopyFault::NotByName);
        }
        Ok(Copied { from: path.to_owned(), to: to.clone(), into })
    };
    words.into_iter().map(one).collect()
}

fn is_flag(word: &str) -> bool {
    word.starts_with("--")
}

/// The pairs of an `ENV`, in its old form of one name and the rest of the line, or as `NAME=VALUE…`.
fn variables(rest: &str) -> Vec<(String, String)> {
    let words = words(rest);
    if !words.first().is_some_and(|first| first.contains('=')) {
        let pair = rest.split_once(char::is_whitespace);
        return pair.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).into_iter().collect();
    }
    let pairs = words.iter().filter_map(|word| word.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The words of a line, without their quotes and backslashes.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(letters.next()),
            (letter, None) if letter.is_whitespace() => all.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    all.extend(word);
    all
}

/// `$NAME`, `${NAME}` and `${NAME:-default}` by their values; `$PATH` stays if it is not set, since this machine's takes its place.
fn expanded(text: &str, known: &BTreeMap<String, String>) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        all.push_str(before);
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (given, next) = braced.unwrap_or_else(|| {
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            after.split_at(end)
        });
        let (name, default) = given.split_once(":-").unwrap_or((given, ""));
        match known.get(name) {
            Some(value) => all.push_str(value),
            None if name == "PATH" => all.push_str("$PATH"),
            None => all.push_str(default),
        }
        rest = next;
    }
    all + rest
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::RootDir | Component::Normal(_) | Component::Prefix(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_and_the_copies_are_read() {
        let text = "# syntax\nFROM a AS b\nWORKDIR /other\nRUN x\nFROM c\nENV A=1 B=\"2\"\nENV C three four\nWORKDIR /app\nCOPY files/ /app/\nCOPY \
                    --chown=1:1 [\"a.txt\", \"sub/\"]\nCOPY a.txt \\\n  b.txt\nRUN apt-get update && \\\n  apt-get install x\n";
        let image = read(text).unwrap();
        assert_eq!(image.workdir, Path::new("/app"));
        let copied = |from: &str, to: &str, into| Copied { from: from.into(), to: to.into(), into };
        let copies = [copied("files/", "", true), copied("a.txt", "sub", true), copied("a.txt", "b.txt", false)];
        assert_eq!(image.copies, copies);
        let variables: Vec<_> = image.environment.into_iter().collect();
        let owned = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(variables, [owned("A", "1"), owned("B", "2"), owned("C", "three four")]);
        assert_eq!(image.runs.as_deref(), Some("apt-get update &&    apt-get install x"));
    }

    #[test]
    fn variables_are_read_as_docker_reads_them() {
        let text = "FROM a\nENV ROOT=/opt A=\"b c\" D=e\\ f\nENV PATH=\"$ROOT/bin:${PATH}\" G=${H:-i}$J\nENV K $A!\nARG L=app M\nWORKDIR $ROOT/$L\nCOPY x ${ROOT}/app/$M/\n";
        let image = read(text).unwrap();
        assert_eq!(image.workdir, Path::new("/opt/app"));
        assert_eq!(image.copies, [Copied { from: "x".into(), to: "".into(), into: true }]);
        let pairs: Vec<_> = image.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(pairs, ["A=b c", "D=e f", "G=i", "K=b c!", "PATH=/opt/bin:$PATH", "ROOT=/opt"]);
    }

    #[test]
    fn an_entry_point_and_a_user_of_the_last_stage_are_found() {
        assert!(last_stage("FROM a\nCOPY --from=b /x .\nentrypoint [\"x\"]\n").has_entrypoint);
        assert_eq!(
            last_stage("FROM a\nENTRYPOINT x\nUSER me\nFROM b\nRUN ENTRYPOINT\nUSER x\nUSER root\n"),
            LastStage::default()
        );
        assert_eq!(last_stage("FROM a\nUSER 1000:1000\n").user.as_deref(), Some("1000:1000"));
    }

    #[test]
    fn what_needs_a_container_is_named() {
        for (text, why) in [
            ("FROM a\nCOPY . .\n", "names no `WORKDIR`"),
            ("FROM a\nWORKDIR /app\nCOPY x /data/x\n", "copies to `/data/x`, outside `/app`"),
            ("FROM a\nWORKDIR /app\nCOPY --from=b /x .\n", "another image's files"),
            ("FROM a\nWORKDIR /app\nCOPY ../x .\n", "by their names"),
            ("FROM a\nWORKDIR /app\nADD https://x.test/y .\n", "by their names"),
            ("FROM a\nWORKDIR /app\nCOPY *.c .\n", "by their names"),
            ("FROM a\nWORKDIR /app\nCOPY x\n", "names no place"),
            ("FROM a\nWORKDIR /app\nCOPY --chmod=755 x .\n", "`--chmod` needs a container"),
            ("FROM a\nWORKDIR /app\nCOPY <<EOF x\n1\nEOF\n", "a file in the Dockerfile"),
            ("FROM a\nWORKDIR /app\nADD data.tar.gz .\n", "unpacks an archive"),
            ("FROM a\nWORKDIR /app\nCOPY x /app/../../etc/y\n", "outside `/app`"),
        ] {
            let said = read(text).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }
}
