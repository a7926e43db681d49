#!/usr/bin/env bash
# Fetches the repairs that wait as repair/<smallkey>, and those that were closed, which are declined, as declined/….
. .github/gh.sh
gh api --paginate "repos/$GITHUB_REPOSITORY/pulls?state=all&per_page=100" --jq '.[]
	| select(.head.repo.full_name == .base.repo.full_name and .merged_at == null)
	| select(.head.ref | test("^repair/[A-Za-z0-9_+=-]{1,64}$"))
	| select(.title | startswith("withdrawn: ") | not)
	| "+refs/pull/\(.number)/head:refs/heads/" + if .state == "open" then .head.ref else "declined/\(.head.ref)/\(.number)" end' |
	xargs --no-run-if-empty git fetch --quiet --depth 10 origin
