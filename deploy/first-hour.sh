#!/bin/sh
# Walks the first hour with the packages of a release in a bare Debian, which debootstrap makes. Needs root, for chroot.
#
#   first-hour.sh RELEASE [SUITE] [SYSTEM] [LOG]
#
# RELEASE is the folder that `cargo xtask dist` made, SUITE a release of Debian [default: bookworm]. SYSTEM is a folder for the bare
# system, which is kept and used again [default: one that is removed]. LOG gets what the walk prints.
set -eu

release=$(realpath "${1:?first-hour.sh RELEASE [SUITE] [SYSTEM]}")
suite=${2:-bookworm}
here=$(dirname "$(realpath "$0")")
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "first-hour.sh: it needs root and debootstrap; with Docker, see first-hour/walk.sh" >&2
    exit 1
fi
log=${4:-/dev/null}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
system=${3:-$work/system}
if [ ! -x "$system/bin/sh" ]; then
    debootstrap --variant=minbase "$suite" "$system" ${MIRROR:+"$MIRROR"} >"$work/log" 2>&1 || {
        tail -n 5 "$work/log" >&2
        exit 1
    }
fi
# What the walk writes lies over the bare system, which stays as it is. The mounts are the namespace's, and end with it.
walk='
    mount -t tmpfs tmpfs "$2" && mkdir "$2/new" "$2/work" "$2/walked" "$2/new/release"
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/new,workdir=$2/work" "$2/walked"
    cp "$3"/*.deb "$3/SHA256SUMS" "$2/walked/release/"
    cp -r "$4/first-hour" "$2/walked/"
    mount -t proc proc "$2/walked/proc"
    chroot "$2/walked" sh /first-hour/walk.sh /release
'
mkdir "$work/mounts"
mkfifo "$work/printed"
tee "$log" <"$work/printed" &
code=0
env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb DEBIAN_FRONTEND=noninteractive \
    unshare --mount --pid --fork sh -euc "$walk" walk "$system" "$work/mounts" "$release" "$here" >"$work/printed" 2>&1 || code=$?
wait
exit "$code"
