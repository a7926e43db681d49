#!/usr/bin/env bash
# commit.sh "BRANCH…": makes a commit of each branch's patch in the folder `found`, which a job without rights has made. `descriptions`
# changes service descriptions, `refresh` also layers/health.json or nothing, and `repair/…` also registrations. The checkout stays.
. .github/gh.sh
layer="layers/[a-z0-9_+=-]{1,2}/[A-Za-z0-9_+=-]{1,64}"

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
			# Of its message come the subject and three trailers.
			trailers="Repairs: [A-Za-z0-9_+=-]{1,64}|Evidence: [0-9a-f]{16}|Certainty: (same|perhaps)"
			message=$(sed --quiet --regexp-extended "1G; 1p; /^($trailers)$/p" "found/$branch/message.txt")
			;;
	esac
	git read-tree HEAD
	git apply --allow-empty --cached "${only[@]}" "found/$branch"/*.patch
	if [ "$branch" != refresh ] && git diff --cached --quiet HEAD; then
		echo "$branch: changes no layer" >&2
		exit 1
	fi
	commit=$(git commit-tree "$(git write-tree)" -p HEAD <<< "$message")
	# A rename has two names, and `git apply --include` looks at one: what decides is what the commit changes.
	git diff --no-renames --raw --abbrev=40 HEAD "$commit" | while IFS=$' \t' read -r _ mode _ _ status path; do
		change="$status$mode $path"
		case "$branch" in
			# health.json is gone when all services are well.
			refresh) if [[ "$change" =~ ^([AM]100644|D000000)\ layers/health\.json$ ]]; then continue; fi ;;
			repair/*) if [[ "$change" =~ ^[AM]100644\ $layer\.json$ ]]; then continue; fi ;;
		esac
		if [[ "$change" =~ ^[AM]100644\ $layer\.service\.json$ ]] &&
			git cat-file -e "$commit:${path%.service.json}.json"; then continue; fi
		echo "$path: $status $mode is no change of $branch" >&2
		exit 1
	done
	git update-ref "refs/heads/$branch" "$commit"
done
