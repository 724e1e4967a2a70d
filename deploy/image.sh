#!/bin/sh
# Builds the container image with buildah, tries it, and prints its size.
#
#   image.sh DEB [TAG]
set -eu

deb=${1:?image.sh DEB [TAG]}
tag=${2:-plimsoll}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/rootfs.sh" "$deb" "$work/rootfs"
# Nothing runs while it is built, and nothing is fetched: the image begins empty.
buildah build --quiet --isolation chroot --file "$here/Dockerfile" --tag "$tag" "$work" >/dev/null
container=$(buildah from --pull-never "$tag")
buildah run --isolation chroot "$container" -- /usr/bin/plimsoll version
buildah rm "$container" >/dev/null
buildah images --format '{{.Name}}:{{.Tag}} {{.Size}}' "$tag"
