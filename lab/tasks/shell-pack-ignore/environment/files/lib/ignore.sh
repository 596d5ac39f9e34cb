# shellcheck shell=bash
# The rules of an ignore file.

rules=()

# load_rules FILE: reads the patterns into `rules`.
load_rules() {
    local line
    while IFS= read -r line || [[ -n $line ]]; do
        [[ -n $line && $line != '#'* ]] || continue
        rules+=("$line")
    done <"$1"
}

# is_ignored PATH: whether the file or a folder it is in matches a rule.
is_ignored() {
    local -a names
    local name rule
    IFS=/ read -r -a names <<<"$1"
    for name in "${names[@]}"; do
        for rule in "${rules[@]}"; do
            # shellcheck disable=SC2053 # the rule is a pattern
            if [[ $name == $rule ]]; then
                return 0
            fi
        done
    done
    return 1
}
