#!/usr/bin/env bash
# Reviews what is in the folder `found`, where there is no key. The output `accepted` names the branches that are in order. A refused
# repair is left out; anything else that is refused ends the job with 1.
set -uo pipefail
accepted=""
code=0
shopt -s nullglob
for patch in found/*/*.patch found/repair/*/*.patch; do
	branch=$(dirname "${patch#found/}")
	if .github/commit.sh "$branch" && npx fragment-publisher review --base HEAD --head "refs/heads/$branch"; then
		accepted+="$branch "
	elif [[ "$branch" != repair/* ]]; then
		code=1
	fi
done
echo "accepted=$accepted" >> "$GITHUB_OUTPUT"
exit "$code"
