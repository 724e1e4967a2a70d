#!/bin/sh
# Walks the first hour in bare containers: the oldest Debian that is supported, and the present one. Needs Docker.
#
#   containers.sh RELEASE FOLDER    RELEASE is the folder that `cargo xtask dist` made
#
# Writes what each walk printed into FOLDER, and the times of all of them into FOLDER/times.md.
set -eu

release=$(realpath "${1:?containers.sh RELEASE FOLDER}")
folder=${2:?containers.sh RELEASE FOLDER}
here=$(dirname "$(realpath "$0")")
mkdir -p "$folder"
for suite in bullseye bookworm; do
    code=0
    docker run --rm -v "$release:/release:ro" -v "$here:/first-hour:ro" "debian:$suite-slim" \
        sh /first-hour/walk.sh /release >"$folder/$suite.log" 2>&1 || code=$?
    cat "$folder/$suite.log"
    [ "$code" = 0 ] || exit "$code"
done
sh "$here/times.sh" "$folder/bullseye.log" "$folder/bookworm.log" >"$folder/times.md"
