#!/usr/bin/env bash
# Builds the Rust server that the bench measures beside ours, into .cache/peer (or the directory given). It takes about
# 15 minutes on two cores. Then: npm run bench -- --peer .cache/peer/bin/rnacos
set -euo pipefail
directory="${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.cache/peer}"
if ! command -v cargo >/dev/null; then
  echo "This needs cargo: install Rust from your package manager or from https://rustup.rs." >&2
  exit 1
fi
cargo install rnacos --version 0.8.8 --locked --root "$directory"
echo "Built. Measure it with: npm run bench -- --peer $directory/bin/rnacos"
