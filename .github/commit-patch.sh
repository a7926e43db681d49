#!/usr/bin/env bash
# commit-patch.sh PATCH SUBJECT: commits a patch of service descriptions that a job without rights has made;
# with HEALTH=yes also of layers/health.json, or of nothing.
# commit-patch.sh --check BASE: looks at the commits since BASE again, such as after a rebase.
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

if [ "$1" = --check ]; then
	check "$2"
	exit 0
fi
git config user.name fragment-publisher
git config user.email fragment-publisher@sender.invalid
git apply ${HEALTH:+--allow-empty} --index --include="layers/*.service.json" ${HEALTH:+--include=layers/health.json} "$1"
git commit --quiet ${HEALTH:+--allow-empty} -m "$2"
check HEAD~1
