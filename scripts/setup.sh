#!/usr/bin/env bash
# Installs the Debian 12 packages that parley builds and tests with; does nothing when all are there. `setup.sh tools` adds what
# `make format` and `make tidy` need, `setup.sh bench` what `make bench` can compare with.
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
missing=()
for p in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
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
  { cat "$log" >&2; echo "parley set-up: apt-get failed (see above)" >&2; exit 1; }
