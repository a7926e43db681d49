#!/usr/bin/env bash
# tell-failure.sh RESULTS [FILE]: keeps one issue open for as long as a workflow fails, with the text of the file: a
# failed run notifies only the person who pushed, and no one where that was a bot.
set -euo pipefail
export GH_HOST="${GITHUB_SERVER_URL#*//}" GH_ENTERPRISE_TOKEN="$GH_TOKEN"
issues="repos/$GITHUB_REPOSITORY/issues"
title="The workflow $GITHUB_WORKFLOW fails"
run="$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID"

# send METHOD PATH --arg MEMBER VALUE…
send() {
	method=$1 path=$2
	shift 2
	jq --null-input "$@" '$ARGS.named' | gh api --silent --method "$method" --input - "$path"
}

open=$(gh api --paginate "$issues?state=open&per_page=100" --jq ".[] | select(.title == \"$title\" and
	.user.login == \"github-actions[bot]\" and .pull_request == null) | .number")
open=${open%%$'\n'*}
if ! [[ "$1" =~ failure|cancelled ]]; then
	if [ -n "$open" ]; then
		send POST "$issues/$open/comments" --arg body "It works again: $run"
		send PATCH "$issues/$open" --arg state closed
	fi
	exit 0
fi
# Each line is indented: as code, it mentions no one and links nothing.
details=$(if [ -e "${2:-}" ]; then head --bytes 20000 "$2" | tr --delete '\000-\011\013-\037\177' | sed 's/^/    /'; fi)
body=$(printf 'The last run that failed: %s\n\n%s\n\nThis is closed by the next run that does not fail.\n' "$run" "$details")
if [ -n "$open" ]; then send PATCH "$issues/$open" --arg body "$body"; else send POST "$issues" --arg title "$title" --arg body "$body"; fi
