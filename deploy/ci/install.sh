#!/bin/sh
# Installs Plimsoll from a release: downloads the archive, checks it against SHA256SUMS, and puts the program into a folder.
#
#   PLIMSOLL_RELEASE  address of the folder with the release's files (required), such as https://HOST/OWNER/plimsoll/releases/download/v1.0.0
#   PLIMSOLL_VERSION  version in the files' names (required), such as 1.0.0
#   PLIMSOLL_TARGET   machine [default: this one's]
#   PLIMSOLL_BIN      folder for the program [default: plimsoll-bin below the current one]
set -eu

: "${PLIMSOLL_RELEASE:?set it to the address of the release}"
: "${PLIMSOLL_VERSION:?set it to the version of the release}"
target=${PLIMSOLL_TARGET:-$(uname -m)-unknown-linux-gnu}
bin=${PLIMSOLL_BIN:-$PWD/plimsoll-bin}
name=plimsoll-$PLIMSOLL_VERSION-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for file in "$name.tar.gz" SHA256SUMS; do
    curl --fail --silent --show-error --location --retry 3 --output "$work/$file" "$PLIMSOLL_RELEASE/$file"
done
(cd "$work" && grep " $name.tar.gz\$" SHA256SUMS | sha256sum --check --quiet --strict -) || {
    echo "install.sh: $name.tar.gz does not match SHA256SUMS; nothing is installed" >&2
    exit 1
}
mkdir -p "$bin"
tar -xzf "$work/$name.tar.gz" -C "$work"
cp "$work/$name/plimsoll" "$bin/plimsoll"
"$bin/plimsoll" version
# Later steps of GitHub Actions find it.
if [ -n "${GITHUB_PATH:-}" ]; then echo "$bin" >>"$GITHUB_PATH"; fi
