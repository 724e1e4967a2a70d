#!/bin/sh
# Makes a folder with the C library of an older Debian, which `cargo xtask dist --sysroot FOLDER` links: the program then runs on every
# system with that version of glibc or a newer one. Needs dpkg-deb and curl, and no root.
#
#   sysroot.sh FOLDER [SUITE] [MIRROR]
set -eu

folder=${1:?sysroot.sh FOLDER [SUITE] [MIRROR]}
suite=${2:-bullseye}
mirror=${3:-http://deb.debian.org/debian}
architecture=${ARCHITECTURE:-$(dpkg --print-architecture)}
packages="libc6 libc6-dev linux-libc-dev libcrypt1 libgcc-s1"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
curl --fail --silent --show-error --retry 3 --output "$work/Packages.xz" \
    "$mirror/dists/$suite/main/binary-$architecture/Packages.xz"
xz -d "$work/Packages.xz"
mkdir -p "$folder"
for package in $packages; do
    # A stanza of the index: the package's file and its checksum.
    found=$(awk -v RS= -v name="$package" '{
        is = 0; file = ""; sum = ""
        for (i = 1; i <= split($0, lines, "\n"); i++) {
            if (lines[i] == "Package: " name) is = 1
            if (lines[i] ~ /^Filename: /) file = substr(lines[i], 11)
            if (lines[i] ~ /^SHA256: /) sum = substr(lines[i], 9)
        }
        if (is) { print file, sum; exit }
    }' "$work/Packages")
    file=${found% *}
    sum=${found#* }
    [ -n "$file" ] || { echo "sysroot.sh: $suite has no package $package" >&2; exit 1; }
    curl --fail --silent --show-error --retry 3 --output "$work/$package.deb" "$mirror/$file"
    echo "$sum  $work/$package.deb" | sha256sum --check --quiet --strict -
    dpkg-deb --extract "$work/$package.deb" "$folder"
done
# Links to absolute paths would lead to this system's own libraries.
find "$folder" -type l -lname '/*' | while read -r link; do
    ln -snf --relative "$folder$(readlink "$link")" "$link"
done
echo "$folder: $suite, $architecture"
