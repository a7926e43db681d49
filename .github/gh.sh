# Sourced by the other scripts: gh and git use the run's server with the token GH_TOKEN, and commit as the service.
set -euo pipefail
export GIT_AUTHOR_NAME=fragment-publisher GIT_AUTHOR_EMAIL=fragment-publisher@sender.invalid
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
if [ -n "${GH_TOKEN:-}" ]; then
	export GH_HOST="${GITHUB_SERVER_URL#*//}" GH_ENTERPRISE_TOKEN="$GH_TOKEN"
	gh auth setup-git --force --hostname "$GH_HOST"
fi
