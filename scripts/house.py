#!/usr/bin/env python3
"""The shape of the Rust code: what the compiler accepts and a reader pays for.

    python3 scripts/house.py [--json] [--ceiling NAME=NUMBER]… [FOLDER]
    python3 scripts/house.py --self-test

Reads `src/`, each `crates/*/src/` and each `lab/*/src/` below FOLDER, without comments, strings and test modules. Exits with 1
where a figure is past its ceiling, and names the files:

- impl-files: the files that hold an inherent `impl` of one type. A type in many files can be read in none of them.
- call-cycles: the files in circles of one type's methods, `self.method(` from file to file and back. No import shows
  these.
- import-cycles: the modules in circles of imports among siblings, with `pub use` followed to the file that defines the
  name. `mod.rs` is the parent, not a sibling.
- by-path: files of the crates that work in folders which a child writes, and that use `std::fs`, unless `BY_PATH` says why
  that is safe there. What is done by a path is done wherever a child's link leads; `hob_process::Folder` goes by
  descriptors.
- manifests: crates that leave out `rust-version` or `lints`. Cargo does not ask for either.
- tuple-parameters: functions' parameters that are tuples. They evade clippy's `too_many_arguments`, and a name says more.
- text-errors: `Result<_, String>`, which loses its source and cannot be matched.
- nested-results: `Result<Result<…>>`, in which the reader has to know which failure is which.
- own-wildcards: `_` arms of matches on enums of this workspace: a new variant would be no compile error there. In hob-domain
  clippy holds this; elsewhere its lint would also mean other crates' enums, such as `io::ErrorKind`.
- commands: what `hob --help` shows, which is the variants of `Command` in `src/cli/args.rs`. What could be a flag or a subcommand
  of one of them should be that.
- settings: the rows of docs/settings.md, which tests hold to the code, without the repository's file. A new one needs two real repositories
  with different values, why it cannot be derived, what breaks when two workers differ, and a test with another value than the default.
- record-fields: the fields of `Record`, what the ledger says of an issue.
- words-for-users: the words of the pages for people who use and run Hob, without tables that a test writes.
- dialect: words and turns in comments, messages and pages that a native reader has to decode: a subject without a name, "stands" for "is",
  "X is no Y", another word for hand-off or reviewer. The ceiling only goes down.

Needs Python 3.11 and nothing else. It reads tokens, not types: a call on another value than `self` is not seen, nor is
what a macro writes.
"""

import argparse
import collections
import contextlib
import dataclasses
import io
import itertools
import json
import pathlib
import re
import sys
import tempfile
import tomllib

CEILINGS = {
    "impl-files": 3, "call-cycles": 0, "import-cycles": 0, "by-path": 0, "manifests": 0, "dialect": 2,
    # The last one, `outcomes`, is asked for by name: what an operator shows to those who pay should not be found under another command.
    "commands": 22,
    # The last four, `limits.candidates`, an agent's `quick_check`, `executor.command` and `executor.job`: what another candidate costs, what
    # runs between edits, which queue an issue's job goes to, and what its Job in a cluster looks like, is the operator's to say.
    "settings": 126, "record-fields": 29, "words-for-users": 15000,
    "tuple-parameters": 0, "text-errors": 0, "nested-results": 0, "own-wildcards": 0,
}
# Where the crates are, beside `src`.
CRATES = ("crates/*/src", "lab/*/src")
# The file and the enum of the commands. Another enum has the names that are hidden.
COMMANDS = ("src/cli/args.rs", "Command")
# The table of settings, and what follows it.
SETTINGS = ("docs/settings.md", "\n## The repository's file")
# The file of the record.
RECORD = "crates/hob-domain/src/issue/record.rs"
# The pages for people who use and run Hob.
FOR_USERS = ("start", "actions", "conversation", "security", "operate", "deploy", "settings", "agents", "specialists")
# The crates that work in folders which a child writes. `hob-process` and `hob-sandbox` have the modules that do it for them.
IN_FOLDERS = ("hob-agent", "hob-worker", "hob-workspace")
# Files that may use `std::fs` all the same, each with the reason why that is safe.
BY_PATH = {
    "in folders that no child writes": [
        "crates/hob-agent/src/adapters/version.rs",
        "crates/hob-agent/src/home.rs",
        "crates/hob-agent/src/model/cassette.rs",
        "crates/hob-agent/src/model/recording.rs",
        "crates/hob-agent/src/session/attachment.rs",
        "crates/hob-agent/src/session/lock.rs",
        "crates/hob-agent/src/session/reader.rs",
        "crates/hob-agent/src/session/store.rs",
        "crates/hob-agent/src/session/writer.rs",
        "crates/hob-worker/src/audit.rs",
        "crates/hob-worker/src/earlier_checks.rs",
        "crates/hob-worker/src/metrics/process.rs",
        "crates/hob-worker/src/spend_journal.rs",
        "crates/hob-workspace/src/mirror.rs",
        "crates/hob-workspace/src/pool.rs",
        "crates/hob-workspace/src/prepared.rs",
        "crates/hob-workspace/src/profiles.rs",
        "crates/hob-workspace/src/record.rs",
        "crates/hob-workspace/src/retention.rs",
        "crates/hob-workspace/src/signing_key.rs",
    ],
    "in folders that Hob has just made, or renewed, so that no child of before reaches them": [
        "crates/hob-workspace/src/checkout.rs",
        "crates/hob-workspace/src/fill.rs",
        "crates/hob-workspace/src/intact.rs",
        "crates/hob-workspace/src/layout.rs",
        "crates/hob-workspace/src/skeleton.rs",
    ],
    "in Hob's git directory of an issue, where its own program alone writes, in a fence": [
        "crates/hob-workspace/src/git_dir.rs",
    ],
    "in a child that is held to a plan": [
        "crates/hob-workspace/src/commit.rs",
        "crates/hob-workspace/src/committer.rs",
        "crates/hob-workspace/src/convert.rs",
        "crates/hob-workspace/src/survey.rs",
    ],
}

TOKEN = re.compile(
    r"""(?P<line>//[^\n]*)"""
    r"""|(?P<block>/\*)"""
    r"""|(?P<raw>\b[bc]?r(?P<hashes>\#*)".*?"(?P=hashes))"""
    r"""|(?P<text>"(?:\\.|[^"\\])*")"""
    r"""|(?P<char>'(?:\\(?:x..|u\{[^}]*\}|.)|[^\\'\n])')""",
    re.DOTALL,
)
ITEM = re.compile(r"(?<![\w$])(?:struct|enum|union|trait|fn|const|static|type|mod|macro_rules!)\s+(?:mut\s+)?(\w+)")
TYPE = re.compile(r"(?<![\w$])(?:struct|enum|union)\s+(\w+)")
IMPL = re.compile(r"(?:^|(?<=[{};\]]))\s*(?:default\s+)?(?:unsafe\s+)?impl\b")
CALL = re.compile(r"\b(?:self\s*\.\s*|Self\s*::\s*)(\w+)\s*(?:::\s*<[^;{}()]*>\s*)?\(")
USE = re.compile(r"(?<!\w)(pub(?:\s*\([^)]*\))?\s+)?use\s+([^;]+);")
PATH = re.compile(r"(?<![\w:$])(?:crate|super|self)(?:\s*::\s*\w+)+")
BY_NAME = re.compile(
    r"(?<!rustix::)\bfs\s*::\s*(?:read|write|copy|rename|remove_|create_dir|metadata|symlink_metadata|set_permissions"
    r"|hard_link|canonicalize|exists|OpenOptions|DirBuilder)"
    r"|\b(?:File\s*::\s*(?:open|create|options)|OpenOptions\s*::\s*new|DirBuilder\s*::\s*new)\b|\.\s*read_dir\s*\("
)
FUNCTION = re.compile(r"\bfn\s+(\w+)\s*")
TUPLE = re.compile(r"\s*(?:&\s*(?:'\w+\s+)?(?:mut\s+)?)*(?=\()")
ENUM = re.compile(r"\benum\s+(\w+)[^{;]*(?=\{)")
VARIANT = re.compile(r"(?:#\s*\[[^\]]*\]\s*)*(\w+)")
NAMED = re.compile(r"\b(\w+)\s*::\s*([A-Z]\w*)\b")
RESULT = re.compile(r"\bResult\s*(?=<)")
TEST = re.compile(r"#\[(?:tokio::)?test\b")
DIALECT = re.compile(
    r"\b(?:whoever|whatever|stands|hand-overs?|hands? over|handed over|handing over|pairs? of eyes)\b"
    r"|(?<!\bthere )\b(?:is|are) no\b(?! longer\b)",
    re.IGNORECASE,
)
TEST_ITEM = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]")


def blank(text):
    """As many blanks as `text` has characters, with its line ends."""
    return re.sub(r"[^\n]", " ", text)


def code_of(text):
    """`text` without comments and the contents of strings, each character at its place."""
    parts, at = [], 0
    while found := TOKEN.search(text, at):
        parts.append(text[at : found.start()])
        end = found.end()
        if found["block"]:
            depth = 1
            while depth and (mark := re.compile(r"/\*|\*/").search(text, end)):
                depth += 1 if mark[0] == "/*" else -1
                end = mark.end()
            end = end if not depth else len(text)
        parts.append(blank(text[found.start() : end]))
        at = end
    return "".join(parts) + text[at:]


def closing(code, at):
    """Where the bracket that opens at `at` is closed, or the end of `code`."""
    pairs, depth = {"{": "}", "(": ")", "[": "]"}, 0
    for place in range(at, len(code)):
        if code[place] == code[at]:
            depth += 1
        elif code[place] == pairs[code[at]]:
            depth -= 1
            if not depth:
                return place
    return len(code)


def without_tests(code):
    """`code` without its items for tests, and the names of the modules for tests that stand in files of their own."""
    modules = []
    while found := TEST_ITEM.search(code):
        opening = re.compile(r"[{;]").search(code, found.end())
        end = len(code) if not opening else closing(code, opening.start()) if opening[0] == "{" else opening.start()
        modules += re.findall(r"\bmod\s+(\w+)\s*$", code[found.end() : opening.start()] if opening else "")
        code = code[: found.start()] + blank(code[found.start() : end + 1]) + code[end + 1 :]
    return code, modules


def generics(text):
    """What is in the `<…>` that `text` begins with, and the text after it."""
    text, depth = text.lstrip(), 0
    if not text.startswith("<"):
        return "", text
    for at, character in enumerate(text):
        if character == "<":
            depth += 1
        elif character == ">" and text[at - 1] != "-":
            depth -= 1
            if not depth:
                return text[1:at], text[at + 1 :].lstrip()
    return "", ""


def parts(text):
    """`text` at its commas outside of brackets."""
    found, depth = [""], 0
    for at, character in enumerate(text):
        depth += 1 if character in "([{<" else -1 if character in ")]}" or character == ">" and text[at - 1] not in "-=" else 0
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [part.strip() for part in found if part.strip()]


def is_tuple(text):
    """Whether a pattern or a type is a tuple, or a reference to one."""
    begin = TUPLE.match(text)
    return bool(begin) and len(parts(text[begin.end() + 1 : closing(text, begin.end())])) > 1


def tuple_parameters(code):
    """The functions with parameters that are tuples, each as often as it has one."""
    for found in FUNCTION.finditer(code):
        _, rest = generics(code[found.end() :])
        if rest.startswith("("):
            for parameter in parts(rest[1 : closing(rest, 0)]):
                # The colon of `name: Type`, not that of a path.
                pattern, _, kind = parameter.partition(": ")
                if is_tuple(pattern) or is_tuple(kind):
                    yield found[1]


def results(code):
    """The arguments of each `Result<…>`."""
    for found in RESULT.finditer(code):
        yield parts(generics(code[found.end() :])[0])


def enums(code):
    """Each enum with the names of its variants."""
    for found in ENUM.finditer(code):
        body = code[found.end() + 1 : closing(code, found.end())]
        yield found[1], {name[1] for part in parts(body) if (name := VARIANT.match(part))}


def outside(code, at, wanted):
    """The first place from `at` on where `wanted` matches outside of brackets, or the end of `code`."""
    place = re.compile(rf"{wanted}|[(\[{{]")
    while (found := place.search(code, at)) and not re.match(wanted, found[0]):
        at = closing(code, found.start()) + 1
    return found.start() if found else len(code)


def matches(code):
    """The patterns of each `match`, with their guards."""
    for found in re.finditer(r"\bmatch\b", code):
        opening = outside(code, found.end(), r"\{")
        body, patterns, at = code[opening + 1 : closing(code, opening)], [], 0
        while (arrow := outside(body, at, "=>")) < len(body):
            patterns.append(body[at:arrow].strip())
            block = re.compile(r"=>\s*\{").match(body, arrow)
            at = closing(body, block.end() - 1) + 1 if block else outside(body, arrow + 2, ",")
            at = re.compile(r"[\s,]*").match(body, at).end()
        yield patterns


def implementations(code):
    """Each `impl`: its type's path, whether it is a trait's, and its body."""
    for found in IMPL.finditer(code):
        opening = code.find("{", found.end())
        if opening < 0:
            continue
        header = re.split(r"\bwhere\b", generics(code[found.end() : opening])[1])[0]
        trait, _, subject = header.rpartition(" for ") if not header.startswith("for<") else ("", "", "")
        path = re.match(r"[&\s]*(?:'\w+\s+)?(?:mut\s+)?(?:dyn\s+)?((?:\w+\s*::\s*)*\w+)", subject)
        if path:
            yield re.sub(r"\s", "", path[1]), bool(trait), code[opening : closing(code, opening)]


def methods(body):
    """The functions that stand directly in an `impl`'s body."""
    names, depth, at = [], 0, 0
    for found in re.finditer(r"[{}]|\bfn\s+(\w+)", body):
        at = found.start()
        if body[at] == "{":
            depth += 1
        elif body[at] == "}":
            depth -= 1
        elif depth == 1:
            names.append(found[1])
    return names


def branches(tree, stem=()):
    """The paths that a `use` tree names, each with the name that it is known by; `*` for all."""
    tree = tree.strip()
    head, brace, _ = tree.partition("{")
    if brace:
        stem = stem + tuple(part for part in re.sub(r"\s", "", head).split("::") if part)
        depth, part, inner = 0, "", tree[len(head) + 1 : tree.rindex("}")]
        for character in inner + ",":
            depth += {"{": 1, "}": -1}.get(character, 0)
            if character == "," and not depth:
                if part.strip():
                    yield from branches(part, stem)
                part = ""
            else:
                part += character
        return
    path, _, alias = tree.partition(" as ")
    path = stem + tuple(part for part in re.sub(r"\s", "", path).split("::") if part)
    if path[-1] == "self":
        path = path[:-1]
    yield path, alias.strip() or path[-1]


def circles(edges):
    """The strongly connected components of more than one node, after Tarjan."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(edges.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(found, key=lambda circle: (-len(circle), circle))


@dataclasses.dataclass
class Source:
    """A file: its place, its module's path in its crate, and its production code."""

    path: str
    module: tuple
    code: str
    tests: int


class Crate:
    """The files of one crate, and what their names mean."""

    def __init__(self, root, folder):
        manifest = next((m for above in folder.parents if (m := above / "Cargo.toml").is_file()), None)
        package = tomllib.loads(manifest.read_text(encoding="utf-8"))["package"] if manifest else {}
        self.name = package.get("name", folder.parent.name)
        # A program in a folder of `src/bin` is a crate of its own.
        programs = [main.parent for main in folder.glob("bin/*/main.rs")]
        read, tests = [], set()
        for path in sorted(folder.rglob("*.rs")):
            if any(path.is_relative_to(program) for program in programs):
                continue
            parts = path.relative_to(folder).with_suffix("").parts
            module = parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts
            whole = code_of(path.read_text(encoding="utf-8"))
            code, modules = without_tests(whole)
            tests.update(module + (name,) for name in modules)
            read.append(Source(str(path.relative_to(root)), module, code, len(TEST.findall(whole))))
        is_test = lambda file: any(file.module[: len(test)] == test for test in tests)
        self.files = [file for file in read if not is_test(file)]
        # A library and its program have the same path; the library's names are the ones that others import.
        self.by_module = {file.module: file for file in reversed(self.files)}
        self.by_module |= {file.module: file for file in self.files if file.path.endswith("lib.rs")}
        self.items = {file.module: set(ITEM.findall(file.code)) for file in self.by_module.values()}
        self.exported = collections.defaultdict(dict)
        self.globs = collections.defaultdict(list)
        self.used = collections.defaultdict(list)
        for file in self.files:
            for public, tree in USE.findall(file.code):
                for path, name in branches(tree):
                    start = self.absolute(path, file.module)
                    if start is None:
                        continue
                    self.used[file.path].append((start, name))
                    if name == "*":
                        self.globs[file.module].append(start[:-1])
                    else:
                        self.exported[file.module][name] = start

    def absolute(self, path, module):
        """`path` from the crate's root, as a file of `module` means it; None for another crate's."""
        if path[0] == "crate":
            return path[1:]
        if path[0] in ("self", "super"):
            while path and path[0] in ("self", "super"):
                module, path = (module if path[0] == "self" else module[:-1]), path[1:]
            return module + path
        return module + path if module + path[:1] in self.by_module else None

    def defined(self, path, seen=()):
        """The file in which what `path` names is defined; None where it is not found."""
        if path in seen:
            return None
        seen += (path,)
        for at in range(len(path) + 1):
            module = path[:at]
            if module not in self.by_module:
                return None
            if at == len(path):
                return self.by_module[module]
            if path[: at + 1] in self.by_module:
                continue
            name = path[at]
            if name in self.items[module]:
                return self.by_module[module]
            if name in self.exported[module]:
                target = self.exported[module][name]
                # Items that a macro defines are not seen: they are assumed to exist where they are exported from.
                return self.defined(target + path[at + 1 :], seen) or self.by_module.get(target[:-1])
            inside = (self.defined(glob + path[at:], seen) for glob in self.globs[module])
            return next((file for file in inside if file), None)
        return None

    def home(self, name, file):
        """The file that defines the type that `name` means in `file`."""
        path = tuple(name.split("::"))
        if len(path) == 1 and path[0] in TYPE.findall(file.code):
            return file
        for start, known in self.used[file.path]:
            if known == path[0]:
                return self.defined(start + path[1:])
        if path[0] in ("crate", "super", "self"):
            return self.defined(self.absolute(path, file.module))
        inside = (self.defined(glob + path) for glob in self.globs[file.module])
        return next((home for home in inside if home), None)

    def types(self):
        """Each type of this crate: the files with an inherent `impl`, where its methods are, and who calls them."""
        found = {}
        for file in self.files:
            for name, trait, body in implementations(file.code):
                home = self.home(name, file)
                if not home:
                    continue
                entry = found.setdefault((home.path, name.split("::")[-1]), (set(), {}, collections.defaultdict(set)))
                if not trait:
                    entry[0].add(file.path)
                    entry[1].update(dict.fromkeys(methods(body), file.path))
                entry[2][file.path].update(CALL.findall(body))
        return found

    def imports(self):
        """For each module with children, which child names something of which: `{parent: {child: {child}}}`."""
        edges = collections.defaultdict(lambda: collections.defaultdict(set))
        for file in self.files:
            paths = [start[:-1] if name == "*" else start for start, name in self.used[file.path]]
            inline = USE.sub(lambda found: blank(found[0]), file.code)
            for text in PATH.findall(inline):
                paths.append(self.absolute(tuple(re.sub(r"\s", "", text).split("::")), file.module))
            for path in paths:
                # An inline path continues into an item; the part before it is enough.
                target = next((home for at in range(len(path), 0, -1) if (home := self.defined(path[:at]))), None)
                if not target:
                    continue
                common = 0
                for mine, theirs in zip(file.module, target.module):
                    if mine != theirs:
                        break
                    common += 1
                if common < min(len(file.module), len(target.module)):
                    edges[file.module[:common]][file.module[common]].add(target.module[common])
        return edges


def by_path(crates):
    """The files that use `std::fs` where a child writes and no reason is given, and reasons that nothing needs."""
    files = [file for crate in crates if crate.name in IN_FOLDERS for file in crate.files]
    users = {file.path for file in files if BY_NAME.search(file.code)}
    allowed = {path for paths in BY_PATH.values() for path in paths}
    wrong = [f"{path} uses `std::fs`: see `hob_process::Folder`, or `BY_PATH`" for path in sorted(users - allowed)]
    # Another tree, such as that of the self-test, has none of them.
    known = {file.path for file in files} & allowed
    return wrong + [f"{path} is in `BY_PATH` and uses none" for path in sorted(known - users)]


def manifests(root):
    """The crates whose manifest leaves out what each is to say."""
    missing = []
    for path in sorted(root.glob("*/*/Cargo.toml")):
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
        said = {"rust-version": manifest.get("package", {}).get("rust-version"), "lints": manifest.get("lints")}
        missing += [f"{path.relative_to(root)}: no `{name}`" for name, value in said.items() if not value]
    return missing


def signatures(crates):
    """The tuples among parameters, and the results without a named error: each place as often as it has one."""
    found = {"tuple-parameters": [], "text-errors": [], "nested-results": [], "own-wildcards": []}
    own = collections.defaultdict(set)
    for name, variants in (enum for crate in crates for file in crate.files for enum in enums(file.code)):
        own[name] |= variants
    for file in (file for crate in crates for file in crate.files):
        found["tuple-parameters"] += [f"{file.path}: {name}" for name in tuple_parameters(file.code)]
        for arguments in results(file.code):
            if arguments[1:] == ["String"]:
                found["text-errors"].append(file.path)
            if arguments and re.match(r"(?:\w+\s*::\s*)*Result\s*<", arguments[0]):
                found["nested-results"].append(file.path)
        own["Self"] = {variant for _, variants in enums(file.code) for variant in variants}
        for patterns in matches(file.code):
            named = {found for pattern in patterns for found in NAMED.findall(re.split(r"\bif\b", pattern)[0])}
            if any(variant in own[name] for name, variant in named if name in own):
                found["own-wildcards"] += [file.path for pattern in patterns if re.fullmatch(r"_\w*", pattern)]
    return found


def commands(crates):
    """The names of the commands that the command line shows."""
    files = [file for crate in crates for file in crate.files if file.path == COMMANDS[0]]
    return sorted(name for file in files for enum, names in enums(file.code) if enum == COMMANDS[1] for name in names)


def text_of(root, name):
    """The text of a file, which may be missing."""
    path = root / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def settings(root):
    """How many settings the operator has."""
    own = text_of(root, SETTINGS[0]).split(SETTINGS[1])[0]
    return len(re.findall(r"^\| `[A-Za-z_.]+` \|", own, re.MULTILINE))


def record_fields(root):
    """How many fields the record has."""
    found = re.search(r"^pub struct Record \{\n(.*?)^\}", text_of(root, RECORD), re.MULTILINE | re.DOTALL)
    return len(re.findall(r"^    pub ", found[1], re.MULTILINE)) if found else 0


def words_for_users(root):
    """How many words people have to read who use and run Hob."""
    # What a test writes into a page is looked up and not read.
    pages = (text_of(root, f"docs/{page}.md").partition("<!-- table:")[0] for page in FOR_USERS)
    return sum(len(page.split()) for page in pages)


def dialect(root):
    """How often each file uses the words that are being replaced, the most first."""
    sources = [path for folder in ("src", *CRATES) for top in root.glob(folder) for path in top.rglob("*.rs")]
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md")]
    counts = {str(path.relative_to(root)): len(DIALECT.findall(path.read_text(encoding="utf-8"))) for path in sources + pages}
    return dict(sorted(((path, count) for path, count in counts.items() if count), key=lambda entry: (-entry[1], entry[0])))


def measure(root):
    """Everything that is reported of the sources below `root`."""
    folders = [folder for place in ("src", *CRATES) for folder in sorted(root.glob(place)) if folder.is_dir()]
    folders += [main.parent for folder in folders for main in sorted(folder.glob("bin/*/main.rs"))]
    crates = [Crate(root, folder) for folder in folders]
    types, calls, imports, tests = {}, [], [], {}
    for crate in crates:
        for (home, name), (files, methods_of, called) in crate.types().items():
            types[f"{home}: {name}"] = sorted(files)
            edges = {file: {methods_of[n] for n in names if n in methods_of} - {file} for file, names in called.items()}
            calls += [{"type": name, "files": circle} for circle in circles(edges)]
        for parent, edges in sorted(crate.imports().items()):
            parent = "::".join((crate.name, *parent))
            imports += [{"parent": parent, "modules": circle} for circle in circles(edges)]
        for file in crate.files:
            tests.setdefault(crate.name, collections.Counter())["::".join(file.module[:1]) or "lib"] += file.tests
    files, found = [file for crate in crates for file in crate.files], signatures(crates)
    many = {name: files for name, files in types.items() if len(files) > 1}
    return {
        "impl-files": dict(sorted(many.items(), key=lambda entry: (-len(entry[1]), entry[0]))),
        "call-cycles": sorted(calls, key=lambda cycle: -len(cycle["files"])),
        "import-cycles": sorted(imports, key=lambda cycle: -len(cycle["modules"])),
        "by-path": by_path(crates),
        "manifests": manifests(root),
        **found,
        "commands": commands(crates),
        "settings": settings(root),
        "record-fields": record_fields(root),
        "words-for-users": words_for_users(root),
        "dialect": dialect(root),
        "figures": {
            "files": len(files),
            "impl Worker, files": max((len(f) for name, f in types.items() if name.endswith(": Worker")), default=0),
            "labels: &mut, signatures": sum(len(re.findall(r"\blabels\s*:\s*&\s*mut\b", f.code)) for f in files),
            "Box::pin": sum(len(re.findall(r"\bBox\s*::\s*pin\b", file.code)) for file in files),
            "unit tests": sum(file.tests for file in files),
        },
        "unit tests": tests,
    }


def past(found, ceilings):
    """What stands past its ceiling, in sentences, and the number that each figure reached."""
    told, reached = {name: [] for name in ceilings}, {}
    reached["impl-files"] = max((len(files) for files in found["impl-files"].values()), default=0)
    for name, files in found["impl-files"].items():
        kind = name.split(": ")[1]
        if len(files) > ceilings["impl-files"]:
            told["impl-files"].append(f"`impl {kind}` stands in {len(files)} files: {', '.join(files)}")
    for name, of, among in (("call-cycles", "files", "type"), ("import-cycles", "modules", "parent")):
        reached[name] = sum(len(cycle[of]) for cycle in found[name])
        if reached[name] > ceilings[name]:
            told[name] = [f"{len(c[of])} {of} of `{c[among]}`: {', '.join(c[of])}" for c in found[name]]
    for name in ("by-path", "manifests", "tuple-parameters", "text-errors", "nested-results", "own-wildcards"):
        reached[name] = len(found[name])
        if reached[name] > ceilings[name]:
            told[name] = found[name]
    reached["commands"] = len(found["commands"])
    if reached["commands"] > ceilings["commands"]:
        told["commands"] = [f"these are too many: {', '.join(found['commands'])}"]
    for name in ("settings", "record-fields", "words-for-users"):
        reached[name] = found[name]
        if reached[name] > ceilings[name]:
            told[name] = [f"{reached[name]} are too many: merge or derive, or say in the change why the ceiling has to rise"]
    reached["dialect"] = sum(found["dialect"].values())
    if reached["dialect"] > ceilings["dialect"]:
        most = [f"{path} {count}" for path, count in itertools.islice(found["dialect"].items(), 10)]
        told["dialect"] = [f"a change adds {DIALECT.pattern}; most are in {', '.join(most)}"]
    return {name: sentences for name, sentences in told.items() if sentences}, reached


def report(found, ceilings):
    """Prints the figures and what is past its ceiling; the exit code."""
    wrong, reached = past(found, ceilings)
    for name, number in found["figures"].items():
        print(f"{number:6}  {name}")
    for crate, modules in found["unit tests"].items():
        tested = ", ".join(f"{module} {number}" for module, number in modules.items() if number)
        print(f"{sum(modules.values()):6}  unit tests of {crate}{': ' if tested else ''}{tested}")
    for name, ceiling in ceilings.items():
        print(f"{reached[name]:6}  {name}, ceiling {ceiling}")
    for name, sentences in wrong.items():
        for sentence in sentences:
            print(f"{name}: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


CLEAN = {
    "Cargo.toml": '[package]\nname = "hob"\n',
    "src/lib.rs": "//! A crate.\npub mod a;\npub mod b;\n",
    "src/a.rs": """//! `impl T`, "in a string
/* impl T { /* nested */ fn x(&self) { self.two() } } */
use std::fmt;
pub struct T { quote: char }
impl<'a, F: Fn() -> T> fmt::Display for Shown<'a, F> where F: Clone {}
impl T {
    pub fn one(&self) -> char { let _ = r#"} self.two( " "#; '"' }
    pub fn text(&self) -> &'static str { "use crate::b::g; \\" }" }
}
#[cfg(test)]
mod tests {
    use crate::b::g;
    #[test]
    fn it_works() { T.one(); }
}
""",
    "src/b/mod.rs": "//! B.\nmod inner;\npub use inner::g;\n",
    "src/b/inner.rs": """//! Inner.
use crate::{
    a::T,
};
pub fn g(t: &T) { t.one(); }
impl T { fn two(&self) { self.one(); } }
""",
    "crates/x/src/lib.rs": """//! X.
enum E { One, Two { x: u8 } }
fn f(&self, s: String, f: &(dyn Fn((u8, u8), u8) + Send), g: fn(u8) -> (u8, u8), [a, b]: [u8; 2], (): ()) -> Result<(), E<String>> {
    one(|(a, b): (u8, u8)| Err("Result<(), String>".into()));
    match e { E::One => match k { io::ErrorKind::NotFound => 1, _ => 2 }, E::Two { .. } => 3 }
}
""",
    "crates/x/Cargo.toml": '[package]\nname = "x"\nrust-version.workspace = true\n[lints]\nworkspace = true\n',
}

# What is planted, over the clean tree, and the figure that has to tell it: the first word.
PLANTED = {
    "impl-files": {f"src/{name}.rs": "//! .\nuse crate::a::T;\nimpl T {}\n" for name in ("c", "d")},
    "call-cycles": {
        "crates/x/src/lib.rs": "//! X.\nmod y;\npub struct U;\nimpl U { fn up(&self) { self\n  .down(); } }\n",
        "crates/x/src/y.rs": "//! Y.\nuse super::U;\nimpl U { pub(crate) fn down(&self) { if x { self.up() } } }\n",
    },
    "import-cycles in src/bin": {
        "crates/x/src/bin/y/main.rs": "//! Y.\nmod a;\nmod b;\n",
        "crates/x/src/bin/y/a.rs": "//! A.\nuse crate::b::B;\npub struct A;\n",
        "crates/x/src/bin/y/b.rs": "//! B.\npub struct B(crate::a::A);\n",
    },
    "import-cycles": {"src/a.rs": "//! A.\nuse crate::{\n    b::{\n        g as h,\n    },\n};\npub struct T;\n"},
    "by-path": {
        "crates/hob-worker/Cargo.toml": '[package]\nname = "hob-worker"\nrust-version.workspace = true\n[lints]\nworkspace = true\n',
        "crates/hob-worker/src/lib.rs": "//! W.\nuse std::fs;\nfn x() { rustix::fs::open(); fs::read_dir(x); }\n",
    },
    "commands": {"src/cli/args.rs": "//! A.\n#[derive(Debug)]\nenum Command { /** Runs. */ #[command(alias = \"x\")] Run(RunArgs), Stop }\n"},
    "settings": {"docs/settings.md": "| `a.b` | `1` | – | It. |\n\n## The repository's file\n| `c` | `1` | – | It. |\n"},
    "record-fields": {RECORD: "//! R.\n/// R.\npub struct Record {\n    /// A.\n    pub a: u8,\n}\n"},
    "words-for-users": {"docs/start.md": "word " * 101},
    "dialect": {"docs/a.md": "The record stands for whoever is no person.\n"},
    "tuple-parameters": {
        "crates/x/src/lib.rs": "//! X.\nfn f<F: Fn() -> (u8, u8)>(\n    f: F,\n    &(a, b): &'static (u8, &(dyn Fn(u8) + Send)),\n) {}\n"
    },
    "text-errors": {"crates/x/src/lib.rs": "//! X.\nfn f() -> Result<Vec<Option<(u8, u8)>>, String> {}\n"},
    "nested-results": {"crates/x/src/lib.rs": "//! X.\nfn f() -> Result<io::Result<()>, E> {}\n"},
    "own-wildcards": {
        "crates/x/src/lib.rs": "//! X.\nenum E { #[a(b)] One(u8), Two { x: u8 } }\nfn f(e: E) { match g({ e }) { E::One(1) if h => {}, _other => {} } }\n"
    },
    "manifests": {"crates/x/Cargo.toml": '[package]\nname = "x"\nrust-version.workspace = true\n'},
}


def self_test():
    """Shows that a clean tree passes and that each planted violation is found, and no other; the exit code."""
    wrong = []
    for kind, planted in {"nothing": {}, **PLANTED}.items():
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**CLEAN, **planted}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found = measure(pathlib.Path(folder))
            strict = dict.fromkeys(CEILINGS, 0) | {"impl-files": CEILINGS["impl-files"], "words-for-users": 100}
            told, _ = past(found, strict)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                code = report(found, strict)
        expected = set() if kind == "nothing" else {kind.split()[0]}
        if set(told) != expected or code != len(expected):
            wrong.append(f"{kind} was planted, {told or 'nothing'} was told, exit {code}")
        if kind == "nothing" and found["unit tests"] != {"hob": {"a": 1, "b": 0, "lib": 0}, "x": {"lib": 0}}:
            wrong.append(f"unit tests were counted as {found['unit tests']}")
    for sentence in wrong:
        print(f"scripts/house.py: {sentence}", file=sys.stderr)
    if not wrong:
        print(f"each of {len(PLANTED)} planted violations is found: {', '.join(PLANTED)}")
    return 1 if wrong else 0


def ceiling(text):
    """`NAME=NUMBER` as it stands on the command line."""
    name, _, number = text.partition("=")
    if name not in CEILINGS or not number.isdigit():
        raise argparse.ArgumentTypeError(f"write NAME=NUMBER with one of {', '.join(CEILINGS)}")
    return name, int(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--json", action="store_true", help="everything that was found, as JSON")
    parser.add_argument("--ceiling", type=ceiling, action="append", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--self-test", action="store_true", help="plants each violation and shows that it is found")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    ceilings = CEILINGS | dict(arguments.ceiling)
    found = measure(arguments.folder.resolve())
    if not found["figures"]["files"]:
        parser.error(f"no Rust source below {arguments.folder}")
    if arguments.json:
        print(json.dumps(found | {"ceilings": ceilings}, indent=2))
        return 1 if past(found, ceilings)[0] else 0
    return report(found, ceilings)


if __name__ == "__main__":
    sys.exit(main())
