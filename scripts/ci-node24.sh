#!/usr/bin/env bash
# Puts a Node 24 binary into a folder and prints the folder that it is in.
# The npm package `node` has no binary in it: its install script fetches the one of this platform from another package. Where install
# scripts do not run, that other package is installed by its name.
set -euo pipefail
mkdir -p "$1"
cd "$1"
echo '{ "private": true }' >package.json
install() { timeout 60 npm install --no-audit --no-fund --loglevel=error "$@" </dev/null >&2; }

install node@24 || true
bin=$PWD/node_modules/node/bin
if ! "$bin/node" --version >&2; then
  platform=$(node -p 'process.platform + "-" + process.arch')
  install "node-$platform@24"
  bin=$PWD/node_modules/node-$platform/bin
  "$bin/node" --version >&2
fi
echo "$bin"
