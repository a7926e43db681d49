#!/usr/bin/env bash
# propose.sh "BRANCH…": pushes the commits of branches, and opens, edits or closes their pull requests, which are the App's, so that they
# start the checks.
. .github/gh.sh
open=$(gh pr list --limit 1000 --base "$GITHUB_REF_NAME" --state open --json headRefName,isCrossRepository \
	--jq '.[] | select(.isCrossRepository | not).headRefName')

is_open() {
	grep --quiet --line-regexp --fixed-strings -- "$1" <<< "$open"
}

for branch in $1; do
	if git diff --quiet HEAD "refs/heads/$branch"; then
		if is_open "$branch"; then gh pr close "$branch" --delete-branch; fi
		continue
	fi
	# At most 20 repairs wait.
	if [ "$branch" != refresh ] && ! is_open "$branch" && [ "$(grep --count "^repair/" <<< "$open")" -ge 20 ]; then continue; fi
	git push --quiet --force origin "refs/heads/$branch:refs/heads/$branch"
	title="Refresh service descriptions"
	if [ "$branch" != refresh ]; then title=$(git show --no-patch --format=%s "refs/heads/$branch"); fi
	if ! is_open "$branch"; then
		gh pr create --head "$branch" --base "$GITHUB_REF_NAME" --title "$title" --body-file "found/$branch/text.md"
		open+=$'\n'"$branch"
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
	if ! is_open "$branch"; then continue; fi
	gh pr edit "$branch" --title "withdrawn: $branch"
	gh pr close "$branch" --delete-branch --comment "The layer is well again. · La couche fonctionne de nouveau."
done
