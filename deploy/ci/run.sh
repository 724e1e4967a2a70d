#!/bin/sh
# Runs a test, keeps its run file, and compares it with the run of the base branch, if there is one.
#
#   PLIMSOLL_SCRIPT    path of the script (required)
#   PLIMSOLL_ARGS      further flags of `plimsoll run`, split at spaces
#   PLIMSOLL_DIR       folder for all files [default: plimsoll-ci]
#   PLIMSOLL_BASE      file of the base branch's run [default: base.plimsoll in the folder]
#   PLIMSOLL_FAIL_ON   "regressed" ends with exit code 121 if anything got worse [default: compare only]
#
# Writes run.plimsoll, report.md, tests.xml and comment.md, and comparison.md where there is a base. Ends with the exit code of the
# run, or else of the comparison.
set -eu

: "${PLIMSOLL_SCRIPT:?set it to the path of the script}"
dir=${PLIMSOLL_DIR:-plimsoll-ci}
base=${PLIMSOLL_BASE:-$dir/base.plimsoll}
mkdir -p "$dir"
rm -rf "$dir/runs" "$dir/run.plimsoll" "$dir/comparison.md" "$dir/comment.md"

code=0
# A list of flags.
# shellcheck disable=SC2086
plimsoll run --runs "$dir/runs" --report "md=$dir/report.md,junit=$dir/tests.xml" ${PLIMSOLL_ARGS:-} "$PLIMSOLL_SCRIPT" || code=$?

kept=0
plimsoll export @last --runs "$dir/runs" --format plimsoll -o "$dir/run.plimsoll" || kept=$?
if [ "$kept" != 0 ]; then
    echo "run.sh: the test left no run (exit code $code); there is nothing to keep or to compare" >&2
    exit "$([ "$code" != 0 ] && echo "$code" || echo "$kept")"
fi

compared=0
if [ -f "$base" ]; then
    plimsoll compare "$base" "$dir/run.plimsoll" --format md -o "$dir/comparison.md" \
        ${PLIMSOLL_FAIL_ON:+--fail-on "$PLIMSOLL_FAIL_ON"} || compared=$?
fi

{
    # comment.sh finds the comment by this line.
    echo "<!-- plimsoll: $PLIMSOLL_SCRIPT -->"
    # The report begins with the validity of the measurement and the verdict.
    sed -n '1,/^###/{/^###/!p;}' "$dir/report.md"
    if [ -f "$dir/comparison.md" ]; then
        echo "### Compared with the base branch"
        echo
        cat "$dir/comparison.md"
    else
        echo "The base branch has no run to compare with."
    fi
} >"$dir/comment.md"

# Regressed (121) fails the step. Nothing that can be judged (125) is in the comment, and fails nothing.
case $compared in 0 | 121 | 125) ;; *) [ "$code" != 0 ] || code=$compared ;; esac
if [ "$code" = 0 ] && [ "$compared" = 121 ]; then code=121; fi
exit "$code"
