# shellcheck shell=bash
# The retention policy.

# select_kept: fills the map `reasons` from the list `snapshots` (entries
# "DATE NAME", newest first) and the map `keep` (period -> how many). A
# snapshot without an entry in `reasons` is not wanted by any period.
declare -A reasons=()

select_kept() {
    local period entry name
    local -i left
    for period in daily weekly monthly; do
        left=${keep[$period]}
        local -A taken=()
        for entry in "${snapshots[@]}"; do
            ((left > 0)) || break
            name=${entry#* }
            bucket "$period" "${entry%% *}"
            # The list starts with the newest, so the first one seen in a
            # bucket is the one that stands for it.
            if [[ -z ${taken[$REPLY]:-} ]]; then
                taken[$REPLY]=1
                reasons[$name]+=" $period:$REPLY"
                left=left-1
            fi
        done
        unset taken
    done
}
