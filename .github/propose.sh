#!/usr/bin/env bash
# propose.sh "BRANCH…": pushes the commits of branches, and opens, edits or closes their pull requests, which are the App's, so that they
# start the checks.
. .github/gh.sh

# How many pull requests of a branch are open.
waiting() {
	gh pr list --head "$1" --base "$GITHUB_REF_NAME" --state open --json number --jq length
}

# At most 20 repairs wait.
repairs=$(gh pr list --limit 500 --state open --json headRefName --jq '[.[] | select(.headRefName | startswith("repair/"))] | length')
for branch in $1; do
	open=$(waiting "$branch")
	if git diff --quiet HEAD "refs/heads/$branch"; then
		if [ "$open" != 0 ]; then gh pr close "$branch" --delete-branch; fi
		continue
	fi
	title="Refresh service descriptions"
	if [ "$branch" != refresh ]; then
		title=$(git show --no-patch --format=%s "refs/heads/$branch")
		if [ "$open" = 0 ] && [ "$((repairs++))" -ge 20 ]; then continue; fi
	fi
	git push --quiet --force origin "refs/heads/$branch:refs/heads/$branch"
	if [ "$open" = 0 ]; then
		gh pr create --head "$branch" --base "$GITHUB_REF_NAME" --title "$title" --body-file "found/$branch/text.md"
	elif [ "$branch" = refresh ]; then
		# People may have given it another title.
		gh pr edit "$branch" --body-file "found/$branch/text.md"
	else
		gh pr edit "$branch" --title "$title" --body-file "found/$branch/text.md"
	fi
done
if [ ! -e found/withdrawn.txt ]; then exit 0; fi
# What is withdrawn was not declined.
for branch in $(grep --extended-regexp --line-regexp "repair/[A-Za-z0-9_+=-]{1,64}" found/withdrawn.txt || true); do
	if [ "$(waiting "$branch")" = 0 ]; then continue; fi
	gh pr edit "$branch" --title "withdrawn: $branch"
	gh pr close "$branch" --delete-branch --comment "The layer is well again. · La couche fonctionne de nouveau."
done
