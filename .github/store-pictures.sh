#!/usr/bin/env bash
# store-pictures.sh FOLDER: pushes pictures of layers and their list to the branch pictures, and nothing else of what a job that draws
# foreign data has handed over: by name, size and number. The branch has one commit: the repository does not grow with its pictures.
. .github/gh.sh
GIT_INDEX_FILE=$(mktemp --dry-run)
export GIT_INDEX_FILE
cd "$1"
find . -type f \( -name "*.webp" -size -13k -o -name "proofs.json" -size -32M \) -printf "%P\n" |
	sort | head --lines 200000 | while IFS= read -r file; do
	if [[ "$file" =~ ^([a-z0-9_+=-]{1,2}/[A-Za-z0-9_+=-]{1,64}\.[0-9a-f]{1,64}\.webp|proofs\.json)$ ]]; then
		printf "100644 %s\t%s\n" "$(git hash-object -w "$file")" "$file"
	fi
done | git update-index --index-info
git push --quiet --force origin "$(git commit-tree "$(git write-tree)" -m "pictures of layers"):refs/heads/pictures"
