#!/usr/bin/env bash
# send-plan.sh PLAN: sends what a job without a key has planned: checks of two names, comments and merges of the service's own
# branches. Runs of several events end in any order: a check that was judged after this plan stays, and a merge needs that the newest
# `owners` is green.
. .github/gh.sh
export LC_ALL=C
repository="repos/$GITHUB_REPOSITORY"
allowed='^(POST check-runs|POST issues/[0-9]+/comments|PATCH issues/comments/[0-9]+|PUT pulls/[0-9]+/merge)$'
jq --exit-status 'all(.[]; .path != "check-runs" or (.body.name | IN("layers", "owners")))' "$1" > /dev/null

# The App's newest check of a name on a commit, as "<conclusion> <time of its judgement>".
newest() {
	gh api "$repository/commits/$1/check-runs?check_name=$2&per_page=100" \
		--jq "[.check_runs[] | select(.app.slug == \"$APP\")] | max_by(.id) // empty | \"\(.conclusion) \(.started_at // \"\")\""
}

code=0
while IFS=$'\t' read -r method path body; do
	if ! [[ "$method $path" =~ $allowed ]]; then
		echo "$method $path: is not planned by a review" >&2
		exit 1
	fi
	body=$(base64 --decode <<< "$body")
	if [ "$path" = check-runs ]; then
		IFS=$'\t' read -r commit name time < <(jq --raw-output '[.head_sha, .name, .started_at] | @tsv' <<< "$body")
		judged=$(newest "$commit" "$name")
		# Times of GitHub have no fraction of a second.
		if [[ "${judged#* }" > "${time%.*}Z" ]]; then continue; fi
	fi
	if [[ "$path" =~ ^pulls/[0-9]+/merge$ ]]; then
		own=$(gh api "$repository/${path%/merge}" --jq '.head.repo.full_name == .base.repo.full_name and (.head.ref | test("^(register|repair)/[^/]+$"))')
		if [ "$own" != true ]; then
			echo "$path: is no branch of the service" >&2
			exit 1
		fi
		judged=$(newest "$(jq --raw-output .sha <<< "$body")" owners)
		if [ "${judged%% *}" != success ]; then continue; fi
	fi
	if gh api --silent --method "$method" --input - "$repository/$path" <<< "$body"; then continue; fi
	echo "$method $path: GitHub has refused it" >&2
	code=1
done < <(jq --raw-output '.[] | [.method, .path, (.body | @json | @base64)] | @tsv' "$1")
exit "$code"
