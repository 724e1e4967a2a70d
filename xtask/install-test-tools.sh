#!/bin/sh
# Installs what the tests need, and says first what that is.
set -eu

packages=""
need() { command -v "$1" >/dev/null 2>&1 || packages="$packages $2"; }
need cc build-essential
need valgrind valgrind
need influxd influxdb
need prometheus prometheus
[ -d /usr/lib/postgresql ] || packages="$packages postgresql"
need redis-server redis-server
need nginx nginx
need mariadbd mariadb-server
need mosquitto mosquitto
[ -e /usr/lib/rabbitmq/bin/rabbitmq-server ] || packages="$packages rabbitmq-server"
need npm npm
need chromium chromium
need curl curl
need jq jq

echo "the tests need: a C compiler, valgrind (counts instructions), InfluxDB and Prometheus (store what is exported), PostgreSQL, Redis, NGINX and RabbitMQ (the lab runs on them), MariaDB and Mosquitto (scripts talk to them), Node and Chromium (build and test the page), curl and jq (the steps of continuous integration), rustfmt and clippy, cargo-deny (checks licences)"
if [ -n "$packages" ]; then
    echo "installing from the distribution:$packages"
    as_root=""
    [ "$(id -u)" = 0 ] || as_root=sudo
    $as_root apt-get update -qq
    # At run level 1 no service is started beside those that the tests start.
    # shellcheck disable=SC2086 — a list of names.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi
if command -v rustup >/dev/null 2>&1; then
    for component in clippy rustfmt; do
        rustup component list --installed | grep -q "^$component" || rustup component add "$component"
    done
fi
if ! command -v cargo-deny >/dev/null 2>&1; then
    echo "installing cargo-deny"
    cargo install --quiet --locked cargo-deny || echo "cargo-deny could not be installed: licences are not checked"
fi
