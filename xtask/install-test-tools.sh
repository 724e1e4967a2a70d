#!/bin/sh
# Installs what the tests need and says so first.
set -eu

packages=""
need() { command -v "$1" >/dev/null 2>&1 || packages="$packages $2"; }
need cc build-essential
need mold mold
need nginx nginx
need valgrind valgrind

echo "the tests need: a C compiler, mold (links faster), nginx (a real server), valgrind (counts instructions),"
echo "                rustfmt and clippy, cargo-deny"
if [ -n "$packages" ]; then
    echo "installing from the distribution:$packages"
    as_root=""
    [ "$(id -u)" = 0 ] || as_root=sudo
    $as_root apt-get update -qq
    # shellcheck disable=SC2086 — a list of names.
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi
if command -v rustup >/dev/null 2>&1; then
    rustup component list --installed | grep -q '^clippy' || rustup component add clippy rustfmt
fi
if ! command -v cargo-deny >/dev/null 2>&1; then
    echo "installing cargo-deny"
    cargo install --quiet --locked cargo-deny || echo "cargo-deny could not be installed: licences are not checked"
fi
