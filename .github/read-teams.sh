#!/usr/bin/env bash
# Prints the members of each team in layers/owners.json as JSON; null for a team that GitHub does not show. Only an App may read
# them, and no package runs where there is its key.
. .github/gh.sh
{ jq --raw-output '.. | strings | select(test("^@[A-Za-z0-9-]+/[A-Za-z0-9_.-]+$"))' layers/owners.json || true; } | sort --unique |
	while IFS=/ read -r organisation team; do
		if listed=$(gh api --paginate "orgs/${organisation#@}/teams/$team/members?per_page=100" --jq '.[] | {login, id}'); then
			members=$(jq --slurp . <<< "$listed")
		else
			members=null
		fi
		jq --null-input --arg team "$organisation/$team" --argjson members "$members" '{($team): $members}'
	done | jq --slurp 'add // {}'
