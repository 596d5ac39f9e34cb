# shellcheck shell=bash
# The rules of an ignore file.

# Each rule has an entry in all four lists.
rule_parts=()   # the pattern, its parts separated by slashes
rule_negated=() # 1 for an exception
rule_folder=()  # 1 when only folders match
rule_tied=()    # 1 when the whole path must match, 0 for the last name

# What is_folder_ignored has found out: path -> 1 or 0.
declare -A folder_ignored=()

# load_rules FILE: reads the patterns into the lists.
load_rules() {
    local line
    while IFS= read -r line || [[ -n $line ]]; do
        [[ $line != '#'* ]] || continue
        add_rule "$line"
    done <"$1"
}

# add_rule LINE
add_rule() {
    local pattern negated=0 folder=0 tied=0
    trim_spaces "$1"
    pattern=$REPLY
    if [[ $pattern == '!'* ]]; then
        negated=1
        pattern=${pattern#!}
    fi
    if [[ $pattern == */ ]]; then
        folder=1
        pattern=${pattern%/}
    fi
    if [[ $pattern == */* ]]; then
        tied=1
        pattern=${pattern#/}
    fi
    [[ -n $pattern ]] || return 0
    escape_groups "$pattern"
    rule_parts+=("$REPLY")
    rule_negated+=("$negated")
    rule_folder+=("$folder")
    rule_tied+=("$tied")
}

# trim_spaces TEXT: leaves in REPLY the text without the spaces at its end that
# no backslash escapes.
trim_spaces() {
    local slashes
    REPLY=$1
    while [[ $REPLY == *' ' ]]; do
        slashes=${REPLY%' '}
        slashes=${slashes##*[!\\]}
        ((${#slashes} % 2 == 0)) || return 0
        REPLY=${REPLY%' '}
    done
}

# escape_groups PATTERN: leaves in REPLY the pattern with a backslash before
# each open parenthesis. `[[` has extended patterns such as @(a|b) always on.
escape_groups() {
    local -i i
    REPLY=
    for ((i = 0; i < ${#1}; i++)); do
        case ${1:i:1} in
            \\)
                REPLY+=${1:i:2}
                i+=1
                ;;
            '(') REPLY+='\(' ;;
            *) REPLY+=${1:i:1} ;;
        esac
    done
}

# is_ignored PATH: whether the file or a folder it is in is excluded.
is_ignored() {
    if [[ $1 == */* ]] && is_folder_ignored "${1%/*}"; then
        return 0
    fi
    is_excluded "$1" 0
}

# is_folder_ignored PATH: whether the folder or one it is in is excluded.
is_folder_ignored() {
    if [[ -z ${folder_ignored[$1]:-} ]]; then
        if [[ $1 == */* ]] && is_folder_ignored "${1%/*}" || is_excluded "$1" 1; then
            folder_ignored[$1]=1
        else
            folder_ignored[$1]=0
        fi
    fi
    ((folder_ignored[$1]))
}

# is_excluded PATH IS-FOLDER: what the last rule that matches the path says,
# whatever holds for the folders it is in.
is_excluded() {
    local -i i
    local -a names parts
    IFS=/ read -r -a names <<<"$1"
    for ((i = ${#rule_parts[@]} - 1; i >= 0; i--)); do
        ((!rule_folder[i] || $2)) || continue
        if ((rule_tied[i])); then
            IFS=/ read -r -a parts <<<"${rule_parts[i]}"
            match_parts 0 0 || continue
        else
            # shellcheck disable=SC2053 # the right side is a pattern
            [[ ${names[-1]} == ${rule_parts[i]} ]] || continue
        fi
        ((!rule_negated[i]))
        return
    done
    return 1
}

# match_parts PART NAME: whether the `parts` of a pattern from that one on match
# all of the `names` of a path from that one on.
match_parts() {
    local -i part=$1 name=$2
    for (( ; part < ${#parts[@]}; part++, name++)); do
        if [[ ${parts[part]} == '**' ]]; then
            if ((part == ${#parts[@]} - 1)); then
                ((name < ${#names[@]}))
                return
            fi
            for (( ; name < ${#names[@]}; name++)); do
                if match_parts "$((part + 1))" "$name"; then
                    return 0
                fi
            done
            return 1
        fi
        # shellcheck disable=SC2053 # the right side is a pattern
        ((name < ${#names[@]})) && [[ ${names[name]} == ${parts[part]} ]] || return 1
    done
    ((name == ${#names[@]}))
}
