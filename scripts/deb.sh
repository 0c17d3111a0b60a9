#!/usr/bin/env bash
# Debian packages of what has been built: parley (the program), libparley-dev (the library with one header), python3-parley.
#   scripts/deb.sh BUILD OUT        `make deb`; tests/install/deb_test.py installs and removes them
set -euo pipefail
build=$(realpath "$1") out=$2
cd "$(dirname "$0")/.."
mkdir -p "$out"
out=$(realpath "$out")
version=$(sed -n 's/^project(parley VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
arch=$(dpkg --print-architecture)
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT

# What the files of a package need from others, as Debian's own tool finds it.
needs() {
  mkdir -p "$staging/debian" && printf 'Source: parley\n\nPackage: %s\nArchitecture: any\n' "$1" > "$staging/debian/control"
  (cd "$staging" && find "$1" -type f \( -perm -u+x -o -name '*.so*' \) -exec sh -c 'head -c4 "$1" | grep -q ELF' _ {} \; -printf '-e%p\n' |
    xargs -r dpkg-shlibdeps -O --ignore-missing-info -l"$staging/libparley-dev/usr/lib" 2> shlibdeps.log | sed -n 's/^shlibs:Depends=//p')
}

# pack NAME SECTION ARCHITECTURE DEPENDS SUMMARY
pack() {
  local root=$staging/$1
  mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$1"
  cp LICENSE "$root/usr/share/doc/$1/copyright"
  gzip -9nc CHANGELOG.md > "$root/usr/share/doc/$1/changelog.gz"
  cat > "$root/DEBIAN/control" <<CONTROL
Package: $1
Version: $version
Section: $2
Priority: optional
Architecture: $3
Maintainer: The authors of parley <parley@localhost>
Installed-Size: $(du -ks --exclude=DEBIAN "$root" | cut -f1)
Depends: $4
Description: $5
 Learning between parties that never pool their data, with a privacy
 guarantee for every record, over the whole run.
CONTROL
  (cd "$root" && find usr -type f -exec md5sum {} + > DEBIAN/md5sums)
  find "$root" -type d -exec chmod 755 {} +
  dpkg-deb --root-owner-group -Zxz --build "$root" "$out/$1_${version}_$3.deb" > /dev/null
  echo "$out/$1_${version}_$3.deb"
}

install_component() {  # COMPONENT PACKAGE
  DESTDIR=$staging/$2 cmake --install "$build" --prefix /usr --component "$1" --strip > /dev/null
}

install_component program parley
install_component library libparley-dev
install_component development libparley-dev
python=$staging/python3-parley/usr/lib/python3/dist-packages
mkdir -p "$python"
cp -rL "$build/python/parley" "$python/parley"
find "$python" -name __pycache__ -prune -exec rm -r {} +
strip --strip-unneeded "$python"/parley/_parley*.so
mkdir "$python/parley-$version.egg-info"
printf 'Metadata-Version: 2.1\nName: parley\nVersion: %s\n' "$version" > "$python/parley-$version.egg-info/PKG-INFO"

pack parley science "$arch" "$(needs parley)" "learning between parties with a privacy guarantee"
pack libparley-dev libdevel "$arch" "$(needs libparley-dev)" "parley as a C++ library: one header"
pack python3-parley python "$arch" "$(needs python3-parley), python3 (>= 3.11), python3 (<< 3.12), python3-numpy, python3-sklearn" "parley for Python: estimators, ledger, reader"
