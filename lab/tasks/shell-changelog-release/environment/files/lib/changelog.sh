# shellcheck shell=bash
# Reading a change log.

# die MESSAGE
die() {
    echo "changelog: $1" >&2
    exit 1
}

# read_log FILE: puts the lines of the file in the array `lines`.
read_log() {
    [[ -f $1 ]] || die "no such file: $1"
    mapfile -t lines <"$1"
}

# is_heading LINE: whether a version starts here; its name is left in REPLY.
is_heading() {
    local pattern='^## +\[([^]]+)\]'
    [[ $1 =~ $pattern ]] || return 1
    REPLY=${BASH_REMATCH[1]}
}

# is_link LINE: whether it is a link reference; its label is left in REPLY.
is_link() {
    local pattern='^\[([^]]+)\]: '
    [[ $1 =~ $pattern ]] || return 1
    REPLY=${BASH_REMATCH[1]}
}

# find_section NAME: sets `first` to the number of the line of the heading and
# `end` to that of the line after the section. Names ignore case.
find_section() {
    local -i i
    first=-1
    end=${#lines[@]}
    for ((i = 0; i < ${#lines[@]}; i++)); do
        if ((first >= 0)) && { [[ ${lines[i]} == '## '* ]] || is_link "${lines[i]}"; }; then
            end=$i
            return
        fi
        if ((first < 0)) && is_heading "${lines[i]}" && [[ ${REPLY,,} == "${1,,}" ]]; then
            first=$i
        fi
    done
    ((first >= 0))
}

# list_versions: the released versions in the order of the file.
list_versions() {
    local line
    for line in "${lines[@]}"; do
        if is_heading "$line" && [[ ${REPLY,,} != unreleased ]]; then
            echo "$REPLY"
        fi
    done
}

# trim FROM END: moves the two numbers in the variables named so that the lines
# between them neither start nor end with an empty one.
trim() {
    local -n from_line=$1 end_line=$2
    while ((from_line < end_line)) && [[ -z ${lines[from_line]} ]]; do
        from_line=$((from_line + 1))
    done
    while ((from_line < end_line)) && [[ -z ${lines[end_line - 1]} ]]; do
        end_line=$((end_line - 1))
    done
}

# show_version NAME: its notes, without the heading.
show_version() {
    local -i first end
    find_section "$1" || die "no such version: $1"
    first+=1
    trim first end
    if ((first < end)); then
        printf '%s\n' "${lines[@]:first:end - first}"
    fi
}
