#!/usr/bin/env bash
# propose.sh refresh|repairs: pushes the commits of what the jobs before have found and judged, and opens, edits or closes pull
# requests. They are the App's, so that they start the checks.
set -euo pipefail
export GH_HOST="${GITHUB_SERVER_URL#*//}" GH_ENTERPRISE_TOKEN="$GH_TOKEN"
gh auth setup-git --force --hostname "$GH_HOST"

# How many pull requests of a branch are open.
waiting() {
	gh pr list --head "$1" --base "$GITHUB_REF_NAME" --state open --json number --jq length
}

# propose COMMIT BRANCH TITLE FILE
propose() {
	git push --quiet --force origin "$1:refs/heads/$2"
	if [ "$(waiting "$2")" = 0 ]; then
		gh pr create --head "$2" --base "$GITHUB_REF_NAME" --title "$3" --body-file "$4"
	elif [ "$2" = refresh ]; then
		# People may have given it another title.
		gh pr edit "$2" --body-file "$4"
	else
		gh pr edit "$2" --title "$3" --body-file "$4"
	fi
}

if [ "$1" = refresh ]; then
	if ! git diff --quiet HEAD~1 HEAD; then
		propose HEAD refresh "Refresh service descriptions" found/text.md
	elif [ "$(waiting refresh)" != 0 ]; then
		gh pr close refresh --delete-branch
	fi
	exit 0
fi
# At most 20 repairs wait.
open=$(gh pr list --limit 500 --state open --json headRefName --jq '[.[] | select(.headRefName | startswith("repair/"))] | length')
for patch in found/repair/*/repair.patch; do
	if [ ! -e "$patch" ]; then continue; fi
	folder=$(dirname "$patch")
	branch="repair/$(basename "$folder")"
	if [ "$(waiting "$branch")" = 0 ]; then
		if [ "$open" -ge 20 ]; then continue; fi
		open="$((open + 1))"
	fi
	propose "refs/heads/$branch" "$branch" "$(head --lines 1 "$folder/message.txt")" "$folder/text.md"
done
if [ ! -e found/withdrawn.txt ]; then exit 0; fi
# What is withdrawn was not declined.
for branch in $(grep --extended-regexp --line-regexp "repair/[A-Za-z0-9_+=-]{1,64}" found/withdrawn.txt || true); do
	if [ "$(waiting "$branch")" = 0 ]; then continue; fi
	gh pr edit "$branch" --title "withdrawn: $branch"
	gh pr close "$branch" --delete-branch --comment "The layer is well again. · La couche fonctionne de nouveau."
done
