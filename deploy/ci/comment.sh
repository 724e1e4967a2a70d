#!/bin/sh
# Writes comment.md below the pull request or merge request, in place of the comment of the last run of the same script.
#
#   PLIMSOLL_DIR    folder of comment.md [default: plimsoll-ci]
#   GitHub Actions: GITHUB_TOKEN, GITHUB_REPOSITORY, GITHUB_API_URL, and PLIMSOLL_PULL_REQUEST, the number
#   GitLab CI:      PLIMSOLL_GITLAB_TOKEN, a token with the scope api; CI_API_V4_URL, CI_PROJECT_ID and CI_MERGE_REQUEST_IID are set
#
# Outside of a pull request it does nothing. Needs curl and jq.
set -eu

file=${PLIMSOLL_DIR:-plimsoll-ci}/comment.md
# Bytes of a comment; GitHub refuses more than 65,536 characters.
bytes_max=60000

if [ -n "${PLIMSOLL_PULL_REQUEST:-}" ]; then
    : "${GITHUB_TOKEN:?set it to the token of the job}"
    comments=${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY/issues/$PLIMSOLL_PULL_REQUEST/comments
    one=${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY/issues/comments
    header="Authorization: Bearer $GITHUB_TOKEN"
    update=PATCH
elif [ -n "${CI_MERGE_REQUEST_IID:-}" ]; then
    if [ -z "${PLIMSOLL_GITLAB_TOKEN:-}" ]; then
        echo "comment.sh: PLIMSOLL_GITLAB_TOKEN is not set, so there is no comment; the comparison is in $file" >&2
        exit 0
    fi
    comments=$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes
    one=$comments
    header="PRIVATE-TOKEN: $PLIMSOLL_GITLAB_TOKEN"
    update=PUT
else
    echo "comment.sh: no pull request and no merge request; the comparison is in $file"
    exit 0
fi

# The header is not in the arguments, which other users of the machine can read.
call() {
    printf 'header = "%s"\n' "$header" |
        curl --config - --fail --silent --show-error --retry 2 --header 'Content-Type: application/json' "$@"
}

if [ "$(wc -c <"$file")" -gt "$bytes_max" ]; then
    head -c "$bytes_max" "$file" >"$file.short"
    printf '\n\nThe rest is in the files of the job.\n' >>"$file.short"
    mv "$file.short" "$file"
fi
marker=$(head -n 1 "$file")
body=$(jq -Rs '{body: .}' "$file")

page=1
id=
while [ -z "$id" ] && [ "$page" -le 10 ]; do
    listed=$(call "$comments?per_page=100&page=$page")
    id=$(printf '%s' "$listed" | jq -r --arg marker "$marker" '[.[] | select(.body | startswith($marker)) | .id][0] // empty')
    [ "$(printf '%s' "$listed" | jq length)" = 100 ] || break
    page=$((page + 1))
done

if [ -n "$id" ]; then
    printf '%s' "$body" >"$file.json"
    call --request "$update" --data "@$file.json" "$one/$id" >/dev/null
    echo "comment.sh: updated comment $id"
else
    printf '%s' "$body" >"$file.json"
    call --request POST --data "@$file.json" "$comments" >/dev/null
    echo "comment.sh: wrote a comment"
fi
rm -f "$file.json"
