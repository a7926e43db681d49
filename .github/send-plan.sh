#!/usr/bin/env bash
# send-plan.sh PLAN: sends what a job without a key has planned (npx fragments comment and approvals, --plan). It needs gh
# and jq alone, so that no package runs where there is a key. It sends checks of two names, comments, labels, requests for
# reviews and merges of the service's own branches, and refuses anything else.
set -euo pipefail
export GH_HOST="${GITHUB_SERVER_URL#*//}"
repository="repos/$GITHUB_REPOSITORY"
allowed='^(POST check-runs|POST issues/[0-9]+/(comments|labels)|PATCH issues/comments/[0-9]+|DELETE issues/[0-9]+/labels/[a-z]+|POST pulls/[0-9]+/requested_reviewers|PUT pulls/[0-9]+/merge)$'
jq --exit-status 'all(.[]; .path != "check-runs" or (.body.name | IN("layers", "owners")))' "$1" > /dev/null
code=0
while IFS=$'\t' read -r method path body; do
	if ! [[ "$method $path" =~ $allowed ]]; then
		echo "$method $path: is not planned by a review" >&2
		exit 1
	fi
	if [[ "$path" =~ ^pulls/[0-9]+/merge$ ]]; then
		own=$(gh api "$repository/${path%/merge}" --jq '.head.repo.full_name == .base.repo.full_name and (.head.ref | test("^(register|repair)/[^/]+$"))')
		if [ "$own" != true ]; then
			echo "$path: is no branch of the service" >&2
			exit 1
		fi
	fi
	if base64 --decode <<< "$body" | gh api --silent --method "$method" --input - "$repository/$path"; then continue; fi
	# The author of a change cannot be asked, and a label may be gone.
	if [[ "$method $path" =~ requested_reviewers$|^DELETE ]]; then continue; fi
	echo "$method $path: GitHub has refused it" >&2
	code=1
done < <(jq --raw-output '.[] | [.method, .path, (.body | @json | @base64)] | @tsv' "$1")
exit "$code"
