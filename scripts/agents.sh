#!/usr/bin/env bash
# Installs other agents' command lines into a folder, each by itself, in the versions that Hob was tried with.
#
#     scripts/agents.sh FOLDER [NAME…]     no names: all
#     HOB_AGENTS_DIR=FOLDER cargo test --test it agents::adapters
#     cargo run --release -p hob-bench -- agent --agents-dir FOLDER
#
# `claude-acp`, which is large, speaks the Agent Client Protocol; it is installed where it is named.
# Needs npm for claude, codex, copilot, gemini, opencode and pi; python3 with venv and pip for aider and
# mini-swe-agent. What is there already is left as it is.
set -euo pipefail

folder="${1:?write scripts/agents.sh FOLDER [NAME…]}"
shift
[ "$#" -gt 0 ] || set -- claude codex copilot gemini opencode pi aider mini-swe-agent
mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"

from_npm() {
  npm install --prefix "$folder/$1" --no-audit --no-fund --no-save --loglevel error "$2" >&2
}

from_pypi() {
  python3 -m venv "$folder/$1"
  "$folder/$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}" >&2
}

for name in "$@"; do
  [ ! -e "$folder/$name/.installed" ] || continue
  mkdir -p "$folder/$name"
  case "$name" in
    claude) from_npm claude @anthropic-ai/claude-code@2.1.197 ;;
    claude-acp) from_npm claude-acp @agentclientprotocol/claude-agent-acp@0.101.0 ;;
    codex) from_npm codex @openai/codex@0.169.0 ;;
    copilot) from_npm copilot @github/copilot@1.0.102 ;;
    gemini) from_npm gemini @google/gemini-cli@0.61.0 ;;
    opencode) from_npm opencode opencode-ai@1.18.33 ;;
    pi) from_npm pi @mariozechner/pi-coding-agent@0.73.1 ;;
    aider) from_pypi aider aider-chat==0.86.2 ;;
    # Its library of models imports `mcp` without asking for it.
    mini-swe-agent) from_pypi mini-swe-agent mini-swe-agent==2.4.6 mcp==2.3.0 ;;
    *)
      printf 'scripts/agents.sh: `%s` is none that can be installed here\n' "$name" >&2
      exit 2
      ;;
  esac
  touch "$folder/$name/.installed"
  printf 'installed %s\n' "$name"
done
