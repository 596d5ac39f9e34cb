# shellcheck shell=bash
# Reading and editing a change log.

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

# is_version NAME: whether it has the form of a release, such as 1.2.3.
is_version() {
    local number='(0|[1-9][0-9]*)'
    [[ $1 =~ ^$number\.$number\.$number$ ]]
}

# is_greater VERSION OTHER
is_greater() {
    local -a left right
    local -i i
    IFS=. read -r -a left <<<"$1"
    IFS=. read -r -a right <<<"$2"
    for i in 0 1 2; do
        if ((left[i] != right[i])); then
            ((left[i] > right[i]))
            return
        fi
    done
    return 1
}

# collect_notes FROM END: puts the lines between the two numbers in `notes`,
# without the subsections that are empty and without empty lines at either end.
collect_notes() {
    local -i i
    local line
    local -a pending=()
    notes=()
    for ((i = $1; i < $2; i++)); do
        line=${lines[i]}
        if [[ $line == '### '* ]]; then
            # A heading that is still pending has nothing under it.
            pending=("$line")
        elif [[ -z $line ]] && ((${#pending[@]})); then
            pending+=("$line")
        else
            notes+=("${pending[@]}" "$line")
            pending=()
        fi
    done
    while ((${#notes[@]})) && [[ -z ${notes[0]} ]]; do
        notes=("${notes[@]:1}")
    done
    while ((${#notes[@]})) && [[ -z ${notes[-1]} ]]; do
        unset 'notes[-1]'
    done
}

# release_version VERSION DATE: changes `lines`.
release_version() {
    local version=$1 date=$2 name tag
    local link='^(.*/compare/)(.+)\.\.\.HEAD$'
    local -i first end i
    local -a notes after=()

    find_section Unreleased || die "no unreleased section"
    while read -r name; do
        if is_version "$name" && ! is_greater "$version" "$name"; then
            die "$version is not greater than $name"
        fi
    done < <(list_versions)
    collect_notes "$((first + 1))" "$end"
    ((${#notes[@]})) || die "nothing to release"

    for ((i = end; i < ${#lines[@]}; i++)); do
        if is_link "${lines[i]}" && [[ ${REPLY,,} == unreleased && ${lines[i]} =~ $link ]]; then
            tag=$version
            [[ ${BASH_REMATCH[2]} != v* ]] || tag=v$version
            after+=("${BASH_REMATCH[1]}$tag...HEAD")
            after+=("[$version]${BASH_REMATCH[1]#\[*\]}${BASH_REMATCH[2]}...$tag")
        else
            after+=("${lines[i]}")
        fi
    done
    ((${#after[@]} == 0)) || notes+=("")
    lines=("${lines[@]:0:first + 1}" "" "## [$version] - $date" "" "${notes[@]}" "${after[@]}")
}
