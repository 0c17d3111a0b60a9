#!/usr/bin/env bash
# Installs the Debian 12 packages that parley builds and tests with; does nothing when all are there. `setup.sh tools` adds what
# `make format` and `make tidy` need, `setup.sh bench` what `make bench` can compare with, `setup.sh browser` what the tests
# of reports open them with (Chromium, and playwright-core by npm).
set -euo pipefail
packages=(
  g++ cmake ninja-build ccache make git ca-certificates
  libeigen3-dev libssl-dev libcurl4-openssl-dev libsqlite3-dev libboost-math-dev
  libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libcsv-dev
  libgtest-dev libgmock-dev librapidcheck-dev liblinear-dev python3
  libopenmpi-dev openmpi-bin
  libgrpc++-dev protobuf-compiler-grpc libprotobuf-dev protobuf-compiler
)
[ "${1:-}" = tools ] && packages+=(clang-format-19 clang-tidy-19)
[ "${1:-}" = bench ] && packages+=(valgrind python3-sklearn)
browser=$(cd "$(dirname "$0")/../tests/browser" && pwd)
if [ "${1:-}" = browser ]; then
  packages+=(chromium)
  command -v node > /dev/null || packages+=(nodejs)
  [ -d "$browser/node_modules/playwright-core" ] || command -v npm > /dev/null || packages+=(npm)
fi
missing=()
for p in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
done
# The version in package-lock.json; without it (no network) the browser test says that it is skipped.
browser_driver() {
  [ "${1:-}" = browser ] || return 0
  [ "$browser/node_modules/.package-lock.json" -nt "$browser/package-lock.json" ] && return 0
  (cd "$browser" && npm ci --no-audit --no-fund --ignore-scripts > /dev/null 2>&1) ||
    echo "parley set-up: npm ci failed in tests/browser: the browser test will be skipped" >&2
}
if [ ${#missing[@]} -eq 0 ]; then
  browser_driver "${1:-}"
  exit 0
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || { echo "parley set-up: missing packages: ${missing[*]}; run as root: apt-get install ${missing[*]}" >&2; exit 1; }
  sudo=(sudo)
fi
echo "parley set-up: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update > "$log" 2>&1 &&
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >> "$log" 2>&1 ||
  { cat "$log" >&2; echo "parley set-up: apt-get failed (see above)" >&2; [ "${1:-}" = browser ] || exit 1; }  # without a browser its test is skipped
browser_driver "${1:-}"
