# shellcheck shell=bash
# What a run has changed, so that it can be undone. The journal is a folder:
# entries/N holds the path that step N writes, saved/N the file that was there
# before, if there was one.

journal_open() {
    journal=$(mktemp -d)
    mkdir "$journal/entries" "$journal/saved"
}

journal_close() {
    rm -rf "$journal"
}

journal_count() {
    local -a entries
    shopt -s nullglob
    entries=("$journal"/entries/*)
    shopt -u nullglob
    echo "${#entries[@]}"
}

# journal_add PATH: must come before the first write to PATH. Fails, and notes
# nothing, when PATH could not be put back.
journal_add() {
    local number
    number=$(journal_count) || return
    if [[ -e $1 ]]; then
        cp -p "$1" "$journal/saved/$number" || return
    fi
    printf '%s\n' "$1" >"$journal/entries/$number"
}

# journal_rollback: undoes the steps, the last one first.
journal_rollback() {
    local number path
    number=$(journal_count)
    while ((number > 0)); do
        number=$((number - 1))
        path=$(<"$journal/entries/$number")
        rm -f "$path"
        if [[ -e $journal/saved/$number ]]; then
            cp -p "$journal/saved/$number" "$path"
        fi
    done
}
