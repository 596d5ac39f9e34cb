#!/usr/bin/env bash
# Hidden tests of changelog; run in the project's folder.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # check WHAT EXPECTED ACTUAL
    if [[ $2 == "$3" ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: %s\n--- expected\n%s\n--- actual\n%s\n' "$1" "$2" "$3"
    fi
}

# whole FILE: its bytes, the last newlines too.
whole() { cat "$1"; echo .; }

# released WHAT VERSION: standard input has the log, a line of "====", and the
# log expected.
released() {
    sed -n '/^====$/q;p' >"$work/log" <"$work/case"
    sed '1,/^====$/d' "$work/case" >"$work/expected"
    out=$(bash bin/changelog -f "$work/log" release "$2" 2024-04-02 2>&1)
    check "$1: status and output" "0 " "$? $out"
    check "$1" "$(whole "$work/expected")" "$(whole "$work/log")"
}

# refused WHAT STATUS ARGUMENT...: of the log in $work/case.
refused() {
    local what=$1 expected=$2
    shift 2
    cp "$work/case" "$work/log"
    bash bin/changelog -f "$work/log" "$@" >"$work/out" 2>"$work/err"
    check "$what: status" "$expected" $?
    check "$what: output" "no yes" \
        "$([[ -s $work/out ]] && echo yes || echo no) $([[ -s $work/err ]] && echo yes || echo no)"
    check "$what: the file" "$(whole "$work/case")" "$(whole "$work/log")"
}

cat >"$work/case" <<'END'
# Changelog

## [Unreleased]

### Added

- `show` takes `Unreleased`.

### Changed

### Fixed

- A last line without a newline is no longer lost.

## [0.2.0] - 2024-03-09

### Added

- Option `-f`.

## [0.1.0] - 2024-02-11

- First version.

[unreleased]: https://git.example.org/changelog/compare/v0.2.0...HEAD
[0.2.0]: https://git.example.org/changelog/compare/v0.1.0...v0.2.0
[0.1.0]: https://git.example.org/changelog/releases/v0.1.0
====
# Changelog

## [Unreleased]

## [0.3.0] - 2024-04-02

### Added

- `show` takes `Unreleased`.

### Fixed

- A last line without a newline is no longer lost.

## [0.2.0] - 2024-03-09

### Added

- Option `-f`.

## [0.1.0] - 2024-02-11

- First version.

[unreleased]: https://git.example.org/changelog/compare/v0.3.0...HEAD
[0.3.0]: https://git.example.org/changelog/compare/v0.2.0...v0.3.0
[0.2.0]: https://git.example.org/changelog/compare/v0.1.0...v0.2.0
[0.1.0]: https://git.example.org/changelog/releases/v0.1.0
END
released "the example of the issue" 0.3.0

check "list after the release" "0.3.0 0.2.0 0.1.0" \
    "$(bash bin/changelog -f "$work/log" list | paste -sd ' ')"
check "show after the release" "### Added

- \`show\` takes \`Unreleased\`.

### Fixed

- A last line without a newline is no longer lost." \
    "$(bash bin/changelog -f "$work/log" show 0.3.0)"
check "nothing is unreleased then" "0 " "$(bash bin/changelog -f "$work/log" show unreleased; echo "$? ")"
cp "$work/log" "$work/case"
refused "a second release without notes" 1 release 0.4.0 2024-05-01
refused "the same version again" 1 release 0.3.0 2024-05-01

# Empty lines, a note before the first subsection, stars and back slashes.
cat >"$work/case" <<'END'
# Changes


##  [UNRELEASED]   next



A note * with \n and $HOME & [link]: no.

- one


- two
### Added
### Changed


#### Deeper

### Removed
- `old`
  - deep   
### Security



## [1.9.3] - 2024-01-01
- nine


## [1.9.2] - 2024-01-01

### Fixed

### Added
END
{
    cat "$work/case"
    cat <<'END'
====
# Changes


##  [UNRELEASED]   next

## [1.10.0] - 2024-04-02

A note * with \n and $HOME & [link]: no.

- one


- two
### Changed


#### Deeper

### Removed
- `old`
  - deep   

## [1.9.3] - 2024-01-01
- nine


## [1.9.2] - 2024-01-01

### Fixed

### Added
END
} >"$work/both"
cp "$work/both" "$work/case"
released "empty lines and text that looks special" 1.10.0

cat >"$work/case" <<'END'
## [Unreleased]
- first
====
## [Unreleased]

## [0.0.1] - 2024-04-02

- first
END
released "no release before, nothing after" 0.0.1

cat >"$work/case" <<'END'
## [Unreleased]

### Added

- first

### Fixed


====
## [Unreleased]

## [1.0.0] - 2024-04-02

### Added

- first
END
released "an empty subsection at the end of the file" 1.0.0

cat >"$work/case" <<'END'
## [Unreleased]
- first
[1.0.0]: https://example.org/compare/0...HEAD
[unReleased]: https://example.org/a/compare/2024.1...HEAD
[unreleased]: https://example.org/commits/HEAD
====
## [Unreleased]

## [2.0.0] - 2024-04-02

- first

[1.0.0]: https://example.org/compare/0...HEAD
[unReleased]: https://example.org/a/compare/2.0.0...HEAD
[2.0.0]: https://example.org/a/compare/2024.1...2.0.0
[unreleased]: https://example.org/commits/HEAD
END
released "links: a tag without v, other addresses, other labels" 2.0.0

cat >"$work/case" <<'END'
## [1.0.0-rc.1] - 2023-01-01

- candidate

## [0.10.2] - 2023-01-01

- ten

## [Unreleased]

- below

## [0.9.9] - 2022-01-01
====
## [1.0.0-rc.1] - 2023-01-01

- candidate

## [0.10.2] - 2023-01-01

- ten

## [Unreleased]

## [0.11.0] - 2024-04-02

- below

## [0.9.9] - 2022-01-01
END
released "a section that is not the first, a version that is not compared" 0.11.0

# The order of versions.
printf '## [Unreleased]\n- x\n## [1.9.3] - 2024-01-01\n- y\n## [1.10.0] - 2023-12-01\n' >"$work/case"
for version in 1.9.3 1.9.2 1.10.0 1.9.10 0.99.99 1.0.999; do
    refused "$version is too small" 1 release "$version" 2024-04-02
done
for version in 1.10.1 1.11.0 2.0.0 10.0.0; do
    cp "$work/case" "$work/log"
    bash bin/changelog -f "$work/log" release "$version" 2024-04-02
    check "$version is greater" "$version 1.9.3 1.10.0" \
        "$(bash bin/changelog -f "$work/log" list | paste -sd ' ')"
done

# Wrong usage.
for version in 2 2.0 2.0.0.0 v2.0.0 02.0.0 2.00.0 2.0.01 2.0.0-rc.1 '2.0.0 ' '' 2.x.0; do
    refused "version '$version'" 2 release "$version" 2024-04-02
done
for date in 24-04-02 2024-4-2 2024/04/02 today '' 2024-04-02T00 ' 2024-04-02'; do
    refused "date '$date'" 2 release 2.0.0 "$date"
done
refused "no date" 2 release 2.0.0
refused "no version" 2 release
refused "too many arguments" 2 release 2.0.0 2024-04-02 x

# Errors in the file.
printf '# Changes\n\n## [1.0.0] - 2024-01-01\n\n- x\n' >"$work/case"
refused "no unreleased section" 1 release 2.0.0 2024-04-02
printf '## [Unreleased]\n\n### Added\n\n### Fixed\n\n## [1.0.0] - 2024-01-01\n' >"$work/case"
refused "only empty subsections" 1 release 2.0.0 2024-04-02
printf '## [Unreleased]\n## [1.0.0] - 2024-01-01' >"$work/case"
refused "no notes, no last newline" 1 release 2.0.0 2024-04-02
bash bin/changelog -f "$work/none" release 2.0.0 2024-04-02 >/dev/null 2>&1
check "no file: status" 1 $?
check "no file is made" no "$([[ -e $work/none ]] && echo yes || echo no)"

# The file itself.
printf '## [Unreleased]\n\n- x' >"$work/log"
chmod 640 "$work/log"
bash bin/changelog -f "$work/log" release 1.0.0 2024-04-02
check "the mode is kept" 640 "$(stat -c %a "$work/log")"
check "a last line without newline" $'## [Unreleased]\n\n## [1.0.0] - 2024-04-02\n\n- x\n.' "$(whole "$work/log")"
mkdir "$work/here"
printf '## [Unreleased]\n\n- x\n' >"$work/here/CHANGELOG.md"
app=$PWD
(cd "$work/here" && bash "$app/bin/changelog" release 1.0.0 2024-04-02)
check "the default file" 1.0.0 "$(bash bin/changelog -f "$work/here/CHANGELOG.md" list)"

# Documentation, and what worked before.
check "the usage message names the command" yes \
    "$(bash bin/changelog 2>&1 | grep -q 'release VERSION DATE' && echo yes)"
check "the README names the command" yes "$(grep -q 'release VERSION DATE' README.md && echo yes)"
printf '## [Unreleased]\n\n- x\n\n## [1.0.0] - 2024-01-01\n\n- y\n\n[1.0.0]: z\n' >"$work/log"
check "show" "- y" "$(bash bin/changelog -f "$work/log" show 1.0.0)"
check "show Unreleased" "- x" "$(bash bin/changelog -f "$work/log" show Unreleased)"
bash bin/changelog -f "$work/log" show 3.0.0 >/dev/null 2>&1
check "show of an unknown version" 1 $?

echo "$passed passed, $failed failed"
((failed == 0 && passed > 100))
