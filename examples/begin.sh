# Read by each run.sh: the folder to work in, and what every example checks first.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v parley > /dev/null || { echo "parley is not in the PATH: export PATH=/path/to/parley/build:\$PATH" >&2; exit 1; }
folder=${1:-$(mktemp -d /tmp/parley-example.XXXXXX)}
mkdir -p "$folder"
cd "$folder"
