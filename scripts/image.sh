#!/usr/bin/env bash
# The image of Containerfile, from a Debian tree with the package parley in it.
#   scripts/image.sh DEB OUT        `make image`
set -euo pipefail
deb=$(realpath "$1") out=$2
cd "$(dirname "$0")/.."
tool=$(command -v podman || command -v buildah || true)
for need in mmdebstrap "${tool:-podman or buildah}"; do
  command -v "$need" > /dev/null || {
    echo "parley: an image needs $need: apt-get install mmdebstrap podman, then make image again" >&2
    exit 1
  }
done
mkdir -p "$out"
# Only unpacked: nothing in the image is a service, and nothing in it is ever installed again.
# shellcheck disable=SC2016  # $1 is mmdebstrap's: the tree
mmdebstrap --variant=extract --include="$(dpkg-deb --field "$deb" Depends | sed 's/([^)]*)//g; s/ //g')" \
  --extract-hook="dpkg-deb --extract '$deb' \"\$1\"" \
  --extract-hook='mkdir -m 1777 -p "$1/work" "$1/tmp"; rm -rf "$1"/usr/share/locale "$1"/usr/share/doc' \
  bookworm "$out/root.tar"
case $tool in
  *podman) podman build --tag parley --file Containerfile "$out" ;;
  *) buildah build --tag parley --file Containerfile "$out" ;;
esac
