# shellcheck shell=bash
# The steps of an installation.

# verify FILE SUM: fails unless the file has that SHA-256 sum ("-": any).
verify() {
    local actual
    if [[ $2 != - ]]; then
        actual=$(sha256sum "$1")
        if [[ ${actual%% *} != "$2" ]]; then
            echo "install-manifest: wrong checksum: $1" >&2
            return 1
        fi
    fi
}

# install_one MODE SUM FROM TO
install_one() {
    local mode=$1 sum=$2 from=$3 to=$4
    verify "$from" "$sum"
    mkdir -p "$(dirname "$to")"
    journal_add "$to"
    cp "$from" "$to"
    chmod "$mode" "$to"
}

# install_all MANIFEST SOURCE TARGET
install_all() {
    local mode sum path
    while read -r mode sum path || [[ -n $mode ]]; do
        case $mode in
            '' | '#'*) continue ;;
        esac
        install_one "$mode" "$sum" "$2/$path" "$3/$path"
    done <"$1"
}
