#!/usr/bin/env bash
# tell-failure.sh RESULTS [FILE]: keeps one issue open for as long as a workflow fails, with the text of the file: a
# failed run notifies only the person who pushed, and no one where that was a bot.
. .github/gh.sh
issues="repos/$GITHUB_REPOSITORY/issues"
title="The workflow $GITHUB_WORKFLOW fails"
run="$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID"
open=$(gh api --paginate "$issues?state=open&per_page=100" --jq ".[] | select(.title == \"$title\" and
	.user.login == \"github-actions[bot]\" and .pull_request == null) | .number")
open=${open%%$'\n'*}
if ! [[ "$1" =~ failure|cancelled ]]; then
	if [ -n "$open" ]; then
		gh api --silent "$issues/$open/comments" --raw-field body="It works again: $run"
		gh api --silent --method PATCH "$issues/$open" --raw-field state=closed
	fi
	exit 0
fi
# Each line is indented: as code, it mentions no one and links nothing.
details=$(if [ -e "${2:-}" ]; then head --bytes 20000 "$2" | tr --delete '\000-\011\013-\037\177' | sed 's/^/    /'; fi)
body=$(printf 'The last run that failed: %s\n\n%s\n\nThis is closed by the next run that does not fail.\n' "$run" "$details")
if [ -n "$open" ]; then
	gh api --silent --method PATCH "$issues/$open" --raw-field body="$body"
else
	gh api --silent "$issues" --raw-field title="$title" --raw-field body="$body"
fi
