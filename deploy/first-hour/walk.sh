#!/bin/sh
# The first hour with Plimsoll in a bare Debian: from the download of a release to the comparison of two runs. It needs nothing but what
# Debian's smallest system has, and no network. It stops at the first step that does not do as docs/guide/install.md says.
#
#   walk.sh RELEASE    folder with the files of the release
#
#   docker run --rm -v "$PWD/target/dist:/release:ro" -v "$PWD/deploy/first-hour:/first-hour:ro" debian:bookworm-slim \
#       sh /first-hour/walk.sh /release
#
# Prints each command with its output, and a table of the steps with their times at the end.
set -eu

release=$(realpath "${1:?walk.sh RELEASE}")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
export HOME="$work" XDG_DATA_HOME="$work/data" PORT=8181

echo "$(. /etc/os-release && echo "$PRETTY_NAME"), $(uname -m), $(nproc) CPUs, $(date -u +%Y-%m-%d)"
for tool in cargo rustc node npm go python3 k6; do
    if command -v "$tool" >/dev/null; then
        echo "walk.sh: the system is not bare: it has $tool" >&2
        exit 1
    fi
done

: >table
number=0
total_ms=0
# step TITLE CODE EXPECTED COMMAND: runs a command, which must end with the code and print the text.
step() {
    number=$((number + 1))
    printf '\n%s. %s\n$ %s\n' "$number" "$1" "$4"
    began=$(date +%s%N)
    code=0
    sh -c "$4" >output 2>&1 </dev/null || code=$?
    took_ms=$((($(date +%s%N) - began) / 1000000))
    total_ms=$((total_ms + took_ms))
    head -n 60 output
    if [ "$code" != "$2" ]; then
        echo "walk.sh: step $number ended with exit code $code, expected $2" >&2
        exit 1
    fi
    if ! grep -qF -- "$3" output; then
        echo "walk.sh: step $number did not print: $3" >&2
        exit 1
    fi
    printf '| %s | %s | `%s` | %s.%s s |\n' "$number" "$1" "$(printf %s "$4" | sed 's/|/\\|/g')" $((took_ms / 1000)) $((took_ms % 1000 / 100)) >>table
}

# The shop that is tested, which also serves the release. Its list takes 10 ms.
echo 10 >delay_ms
perl "$here/server.pl" "$PORT" "$release" "$work/delay_ms" &
server=$!
# It may take a while to start on a busy machine, and a download is not tried again for long.
tries=0
until perl -MIO::Socket::INET -e 'exit !IO::Socket::INET->new("127.0.0.1:$ENV{PORT}")' 2>/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ] || ! kill -0 "$server" 2>/dev/null; then
        echo "walk.sh: the shop does not listen on port $PORT" >&2
        exit 1
    fi
    sleep 0.1
done
cp "$here/shop.har" .
deb=$(cd "$release" && ls plimsoll_*_"$(dpkg --print-architecture)".deb)
get=/usr/lib/apt/apt-helper

step "Download" 0 "" "$get download-file http://127.0.0.1:$PORT/release/$deb $deb && $get download-file http://127.0.0.1:$PORT/release/SHA256SUMS SHA256SUMS"
step "Check the download" 0 "$deb: OK" "sha256sum --check --ignore-missing SHA256SUMS"
step "Install" 0 "Setting up plimsoll" "apt-get install --yes --no-install-recommends ./$deb"
step "See the version" 0 "plimsoll" "plimsoll version"
step "Convert a recording" 0 "4 requests" "plimsoll new --from har shop.har -o shop.js"
step "Convert a command of curl" 0 "1 request" "echo \"curl 'http://127.0.0.1:$PORT/crates?wood=ash' -H 'Accept: application/json'\" | plimsoll new --from curl - -o list.js"
step "Make a mistake: a unit in a threshold" 104 "without a unit" "sed 's/p(95)<[0-9]*/&ms/' shop.js >mistake.js && plimsoll run mistake.js"
step "Run the test" 0 "✓ POST /cart: status 201" "plimsoll run --vus 2 --duration 30s shop.js"
step "Find the bottleneck" 0 "Ruled out" "plimsoll diagnose"
# The next version of the shop is much slower, so that the change shows on a busy machine, too.
step "Run again, after a change" 0 "✓ POST /cart: status 201" "echo 100 >delay_ms; plimsoll run --vus 2 --duration 30s shop.js"
step "Compare both runs" 0 "Steady state" "plimsoll compare"
# A machine that computes something else has no steady runs, and no comparison can be made of them.
grep -q '^Regressed:' output || echo "walk.sh: the comparison has no verdict, because the machine was too busy"
step "Write a report" 0 "<!doctype html>" "plimsoll report @last -o report.html && head -c 15 report.html"

printf '\n| Step | | Command | Time |\n|---|---|---|---|\n'
cat table
printf '\nAll %s steps: %s.%s s\n' "$number" $((total_ms / 1000)) $((total_ms % 1000 / 100))
