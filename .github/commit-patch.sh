#!/usr/bin/env bash
# commit-patch.sh PATCH SUBJECT: commits a patch of service descriptions that a job without rights has made;
# with HEALTH=yes also of layers/health.json, or of nothing.
# commit-patch.sh --push: pushes it to the branch of the run, upon what others have pushed meanwhile.
# A rename has two names, and `git apply --include` looks at one of them: what decides is what the commit changes.
set -euo pipefail

check() {
	local layer="layers/[a-z0-9_+=-]{1,2}/[A-Za-z0-9_+=-]{1,64}"
	git diff --no-renames --raw --abbrev=40 "$1" HEAD | while IFS=$' \t' read -r _ mode _ _ status path; do
		# health.json is gone when all services are well.
		if [ "${HEALTH:-}" = yes ] && [ "$path" = layers/health.json ] && [[ "$status$mode" =~ ^([AM]100644|D000000)$ ]]; then continue; fi
		if [[ "$status$mode" =~ ^[AM]100644$ && "$path" =~ ^$layer\.service\.json$ ]] &&
			git cat-file -e "HEAD:${path%.service.json}.json"; then continue; fi
		echo "$path: $status $mode is no change of a service description" >&2
		exit 1
	done
}

if [ "$1" = --push ]; then
	export GH_HOST="${GITHUB_SERVER_URL#*//}" GH_ENTERPRISE_TOKEN="$GH_TOKEN"
	gh auth setup-git --force --hostname "$GH_HOST"
	for attempt in 1 2 3 4 5; do
		if git push --quiet origin "HEAD:refs/heads/$GITHUB_REF_NAME"; then exit 0; fi
		sleep "$attempt"
		git fetch --quiet --no-tags origin "refs/heads/$GITHUB_REF_NAME"
		# Others have described the same layers.
		git rebase --quiet FETCH_HEAD || exit 0
		check FETCH_HEAD
	done
	exit 1
fi
git config user.name fragment-publisher
git config user.email fragment-publisher@sender.invalid
git apply ${HEALTH:+--allow-empty} --index --include="layers/*.service.json" ${HEALTH:+--include=layers/health.json} "$1"
git commit --quiet ${HEALTH:+--allow-empty} -m "$2"
check HEAD~1
