#!/bin/sh
# Tries `plimsoll mcp` with the clients that the protocol's authors make, from PyPI and npm.
#
#   clients.sh PROGRAM
set -eu

program=$(realpath "${1:?clients.sh PROGRAM}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/scripts"
echo 'export default () => {};' >"$work/scripts/test.js"
export XDG_DATA_HOME="$work/data"

python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet mcp
"$work/python/bin/pip" list 2>/dev/null | grep '^mcp '
"$work/python/bin/python" "$here/client.py" "$program" "$work/scripts" test.js

cp "$here/client.mjs" "$work/"
(cd "$work" && npm install --silent --no-save @modelcontextprotocol/sdk && npm list @modelcontextprotocol/sdk | tail -n 2)
(cd "$work" && node client.mjs "$program" "$work/scripts" test.js)
