#!/usr/bin/env bash
# Hidden tests of install-manifest; run in the project's folder.
set -u
umask 022
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

# fresh: a release, and a target with an older version of some of its files.
fresh() {
    rm -rf "$work/release" "$work/target" "$work/tmp"
    mkdir -p "$work/release/bin" "$work/release/share" "$work/target/bin" "$work/target/other" "$work/tmp"
    echo 'new tool' >"$work/release/bin/tool"
    echo 'new helper' >"$work/release/bin/helper"
    echo 'new conf' >"$work/release/share/conf"
    echo 'new notes' >"$work/release/notes"
    echo 'old tool' >"$work/target/bin/tool"
    echo 'old conf' >"$work/target/conf"
    echo 'mine' >"$work/target/other/mine"
    chmod 700 "$work/target/bin/tool"
    chmod 600 "$work/target/conf"
}

# files: the files under the target with their modes and contents.
files() {
    (cd "$work/target" && find . -type f | LC_ALL=C sort | while read -r file; do
        echo "$(stat -c %a "$file") $file $(cat "$file")"
    done)
}

# run MANIFEST-TEXT: sets status, out and err.
run() {
    printf '%s\n' "$1" >"$work/manifest"
    out=$(TMPDIR=$work/tmp bash bin/install-manifest "$work/manifest" "$work/release" "$work/target" 2>"$work/err" </dev/null)
    status=$?
    err=$(tail -n 1 "$work/err")
}

# undone WHAT MANIFEST-TEXT [COMMAND...]: the run fails and leaves no trace.
undone() {
    local what=$1 text=$2 before
    shift 2
    fresh
    (($#)) && "$@"
    before=$(files)
    run "$text"
    check "$what: status" 1 "$status"
    check "$what: standard output" "" "$out"
    check "$what: last line of standard error" "install-manifest: failed, nothing was installed" "$err"
    check "$what: the target" "$before" "$(files)"
    check "$what: nothing left in TMPDIR" "" "$(ls -A "$work/tmp")"
}

bad=0000000000000000000000000000000000000000000000000000000000000000
fresh
good=$(sha256sum "$work/release/notes")
good=${good%% *}

undone "missing in the middle" "755 - bin/tool
644 - bin/missing
644 - notes"
undone "missing at the start" "644 - missing
755 - bin/tool
644 - notes"
undone "missing at the end" "755 - bin/tool
644 - notes
644 - missing"
undone "missing, with a checksum" "755 - bin/tool
644 $good missing
644 - notes"
undone "wrong checksum in the middle" "755 - bin/tool
644 $bad bin/helper
644 $good notes"
undone "wrong checksum of a file to replace" "644 $bad bin/tool
644 $good notes"
undone "wrong checksum at the end" "755 - bin/tool
644 $bad notes"
undone "bad mode in the middle" "755 - bin/tool
rwx - bin/helper
644 - notes"
undone "bad mode at the end" "755 - bin/tool
999 - notes"
a_file_for_a_folder() { echo 'in the way' >"$work/target/share"; }
undone "a file where a folder must be" "755 - bin/tool
644 - share/conf
644 - notes" a_file_for_a_folder
a_folder_for_a_file() { mkdir -p "$work/target/notes/sub" && echo kept >"$work/target/notes/sub/kept"; }
undone "a folder where a file must be" "755 - bin/tool
644 - notes
755 - bin/helper" a_folder_for_a_file
undone "a folder where the last file must be" "755 - bin/tool
644 $good notes" a_folder_for_a_file
undone "the same file twice before the failure" "755 - bin/tool
711 - bin/tool
644 - missing
755 - bin/helper"

# The run stops at the line that fails.
fresh
run "755 - bin/tool
644 - missing-one
644 - missing-two"
check "nothing is tried after the failure" 0 "$(grep -c missing-two "$work/err")"

# What worked before.
fresh
run "# mode sum path

755 - bin/tool
644 $good notes
  # indented
640 - share/conf"
check "success: status" 0 "$status"
check "success: standard output" "installed 3 files" "$out"
check "success: standard error" "" "$err"
check "success: the target" "755 ./bin/tool new tool
600 ./conf old conf
644 ./notes new notes
644 ./other/mine mine
640 ./share/conf new conf" "$(files)"
check "success: nothing left in TMPDIR" "" "$(ls -A "$work/tmp")"

fresh
printf '755 - bin/tool\n600 - notes' >"$work/manifest"
bash bin/install-manifest "$work/manifest" "$work/release" "$work/fresh" >/dev/null
check "a last line without newline, a new target" "new tool 600" \
    "$(cat "$work/fresh/bin/tool") $(stat -c %a "$work/fresh/notes")"
fresh
run ""
check "an empty manifest" "0 installed 0 files" "$status $out"
bash bin/install-manifest "$work/manifest" "$work/nowhere" "$work/target" >/dev/null 2>&1
check "wrong usage" 2 $?

echo "$passed passed, $failed failed"
((failed == 0 && passed == 74))
