#!/usr/bin/env bash
# commit.sh "BRANCH…": makes a commit of each branch's patch in the folder `found`, which a job without rights has made. `descriptions`
# changes service descriptions, `refresh` also layers/health.json or nothing, and `repair/…` also registrations. The checkout stays.
# commit.sh --push BRANCH: pushes the commit to the branch of the run, upon what others have pushed meanwhile.
. .github/gh.sh
layer="layers/[a-z0-9_+=-]{1,2}/[A-Za-z0-9_+=-]{1,64}"

# check BRANCH BASE COMMIT. A rename has two names, and `git apply --include` looks at one: what decides is what the commit changes.
check() {
	git diff --no-renames --raw --abbrev=40 "$2" "$3" | while IFS=$' \t' read -r _ mode _ _ status path; do
		case "$1" in
			# health.json is gone when all services are well.
			refresh) if [[ "$status$mode $path" =~ ^([AM]100644|D000000)\ layers/health\.json$ ]]; then continue; fi ;;
			repair/*) if [[ "$status$mode $path" =~ ^[AM]100644\ $layer\.json$ ]]; then continue; fi ;;
		esac
		if [[ "$status$mode $path" =~ ^[AM]100644\ $layer\.service\.json$ ]] &&
			git cat-file -e "$3:${path%.service.json}.json"; then continue; fi
		echo "$path: $status $mode is no change of $1" >&2
		exit 1
	done
}

if [ "$1" = --push ]; then
	commit=$(git rev-parse "refs/heads/$2")
	for attempt in 1 2 3 4 5; do
		if git push --quiet origin "$commit:refs/heads/$GITHUB_REF_NAME"; then exit 0; fi
		sleep "$attempt"
		git fetch --quiet --no-tags origin "refs/heads/$GITHUB_REF_NAME"
		# Others have described the same layers.
		git rebase --quiet --onto FETCH_HEAD "$commit~1" "$commit" || exit 0
		commit=$(git rev-parse HEAD)
		check "$2" FETCH_HEAD "$commit"
	done
	exit 1
fi

GIT_INDEX_FILE=$(mktemp --dry-run)
export GIT_INDEX_FILE
trap 'rm -f "$GIT_INDEX_FILE"' EXIT
for branch in $1; do
	only=(--include="layers/*.service.json")
	case "$branch" in
		descriptions) message="describe layers" ;;
		refresh)
			message="refresh service descriptions"
			only+=(--include=layers/health.json)
			;;
		*)
			[[ "$branch" =~ ^repair/[A-Za-z0-9_+=-]{1,64}$ ]]
			only=(--exclude=layers/owners.json --exclude=layers/health.json --include="layers/*.json")
			# Of its message come the subject and two trailers.
			message=$(sed --quiet --regexp-extended '1G; 1p; /^(Repairs: [A-Za-z0-9_+=-]{1,64}|Evidence: [0-9a-f]{16})$/p' \
				"found/$branch/message.txt")
			;;
	esac
	git read-tree HEAD
	git apply --allow-empty --cached "${only[@]}" "found/$branch"/*.patch
	if [ "$branch" != refresh ] && git diff --cached --quiet HEAD; then
		echo "$branch: changes no layer" >&2
		exit 1
	fi
	commit=$(git commit-tree "$(git write-tree)" -p HEAD <<< "$message")
	check "$branch" HEAD "$commit"
	git update-ref "refs/heads/$branch" "$commit"
done
