#!/bin/sh
# Prints the tables of walks, as Markdown, from what walk.sh printed.
#
#   times.sh LOG...
set -eu

echo "# Times of the first hour"
echo
for log in "$@"; do
    awk 'NR == 1 { print "## " $0; print "" }
        /^\| Step/ { found = 1 }
        found
        END { if (!found) exit 1 }' "$log" || { echo "times.sh: $log has no table: the walk did not reach its end" >&2; exit 1; }
    echo
done
