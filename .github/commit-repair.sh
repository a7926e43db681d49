#!/usr/bin/env bash
# commit-repair.sh FOLDER: makes a commit of a repair, and prints its id. Of its patch it takes registrations and service
# descriptions that are there before and after; of its message the subject and two trailers. The checkout stays as it is.
set -euo pipefail
export GIT_AUTHOR_NAME=fragment-publisher GIT_AUTHOR_EMAIL=fragment-publisher@sender.invalid
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
GIT_INDEX_FILE=$(mktemp --dry-run)
export GIT_INDEX_FILE
trap 'rm -f "$GIT_INDEX_FILE"' EXIT
git read-tree HEAD
git apply --allow-empty --cached --exclude=layers/owners.json --exclude=layers/health.json --include="layers/*.json" "$1/repair.patch"
git diff --cached --no-renames --raw HEAD | while IFS=$' \t' read -r _ mode _ _ status path; do
	if [[ "$status$mode" =~ ^[AM]100644$ && "$path" =~ ^layers/[a-z0-9_+=-]{1,2}/[A-Za-z0-9_+=-]{1,64}(\.service)?\.json$ ]]; then continue; fi
	echo "$path: $status $mode is no change of a layer" >&2
	exit 1
done
{
	head --lines 1 "$1/message.txt"
	echo
	grep --extended-regexp --line-regexp "Repairs: [A-Za-z0-9_+=-]{1,64}|Evidence: [0-9a-f]{16}" "$1/message.txt" || true
} | git commit-tree "$(git write-tree)" -p HEAD
