#!/usr/bin/env bash
# Installs the Debian 12 packages that parley needs; does nothing when all are there. It says first what it will install, and
# asks for a password only where somebody sits at a terminal.
#   setup.sh            what `make` builds and `make test` tests with
#   setup.sh browser    Chromium, and playwright-core by npm, for the test of reports
#   setup.sh clang      the compiler of `make sanitize` and `make tsan`
#   setup.sh tools      what `make format`, `make lint` and `make tidy` call
#   setup.sh postgres   a PostgreSQL server, for the test of --data postgresql://…
#   setup.sh pylibs     what the Python package is made and tested with
#   setup.sh bench      what `make bench` can compare with
set -euo pipefail
group=${1:-}
packages=(
  g++ cmake ninja-build ccache make git ca-certificates
  libeigen3-dev libssl-dev libcurl4-openssl-dev libsqlite3-dev libboost-math-dev
  libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libcsv-dev
  libgtest-dev libgmock-dev liblinear-dev python3 python3-grpcio python3-cryptography
  libopenmpi-dev openmpi-bin
  zlib1g-dev libpq-dev
  libgrpc++-dev protobuf-compiler-grpc libprotobuf-dev protobuf-compiler
)
browser=$(cd "$(dirname "$0")/../tests/browser" && pwd)
case $group in
  '') ;;
  browser)
    packages+=(chromium)
    command -v node > /dev/null || packages+=(nodejs)
    [ -d "$browser/node_modules/playwright-core" ] || command -v npm > /dev/null || packages+=(npm) ;;
  clang) packages+=(clang-19 libclang-rt-19-dev llvm-19) ;;  # llvm-19: lsan.supp names functions
  postgres) packages+=(postgresql-15) ;;
  tools) packages+=(clang-format-19 clang-tidy-19) ;;
  pylibs) packages+=(python3-dev pybind11-dev python3-venv python3-pip python3-setuptools python3-wheel python3-numpy python3-scipy
    python3-sklearn python3-pandas python3-pytest python3-mypy mypy dpkg-dev pkg-config) ;;
  bench) packages+=(valgrind python3-sklearn) ;;
  *) echo "parley set-up: unknown group '$group' (allowed: browser, clang, tools, postgres, pylibs, bench, or none)" >&2; exit 1 ;;
esac
missing=()
for p in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
done

# The version in package-lock.json; without it (no network) the browser test says that it is skipped.
browser_driver() {
  [ "$group" = browser ] || return 0
  [ "$browser/node_modules/.package-lock.json" -nt "$browser/package-lock.json" ] && return 0
  echo "parley set-up: npm ci in tests/browser (playwright-core)" >&2
  (cd "$browser" && npm ci --no-audit --no-fund --ignore-scripts > /dev/null 2>&1) ||
    echo "parley set-up: npm ci failed in tests/browser: the browser test will be skipped" >&2
}
# Without a browser, a database or Python's libraries their test is skipped, and nothing else fails.
give_up() {
  echo "parley set-up: $1; as root: apt-get install --no-install-recommends ${missing[*]}" >&2
  case $group in browser|postgres|pylibs) exit 0 ;; esac
  exit 1
}
if [ ${#missing[@]} -eq 0 ]; then
  browser_driver
  exit 0
fi
echo "parley set-up: will install ${missing[*]}" >&2
command -v apt-get > /dev/null || give_up "this system has no apt-get"
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || give_up "needs root, and there is no sudo"
  sudo=(sudo)
  [ -t 0 ] && [ -t 2 ] || sudo=(sudo -n)
  "${sudo[@]}" true 2> /dev/null || give_up "needs root, and sudo would ask for a password"
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"${sudo[@]}" apt-get update > "$log" 2>&1 &&
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >> "$log" 2>&1 ||
  { cat "$log" >&2; give_up "apt-get failed (see above)"; }
browser_driver
