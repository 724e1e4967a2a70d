#!/bin/sh
# Builds and checks the packages of a release. VERSION must be that of Cargo.toml.
#
#   release.sh VERSION
set -eu

version=${1:?release.sh VERSION}
cd "$(dirname "$0")/.."
known=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
if [ "$version" != "$known" ]; then
    echo "release.sh: the tag has version $version, Cargo.toml has $known" >&2
    exit 1
fi
target=$(cargo metadata --format-version 1 --no-deps --offline | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
[ -d "$target/sysroot/usr" ] || deploy/sysroot.sh "$target/sysroot"
cargo xtask dist --sysroot "$target/sysroot"
(cd "$target/dist" && sha256sum --check --strict SHA256SUMS)
