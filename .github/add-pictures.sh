#!/usr/bin/env bash
# add-pictures.sh FOLDER [PART]: adds pictures of layers and their lists to git's index, and nothing else of what a job that
# draws foreign data has handed over: by name, size and number.
set -euo pipefail
cd "$1"
find "${2:-.}" -type f \( -name "*.webp" -size -13k -o -name "proofs.json" -size -32M -o -name "report.*" -size -32M \) -printf "%P\n" |
	sort | head --lines 200000 | while IFS= read -r file; do
	file="${2:+$2/}$file"
	name="[A-Za-z0-9_+=-]{1,64}(\.[0-9a-f]{1,64})?\.webp"
	if [[ "$file" =~ ^(proposed/)?([a-z0-9_+=-]{1,2}/$name|proofs\.json|report\.(en\.html|fr\.html|json))$ ]]; then
		printf "100644 %s\t%s\n" "$(git hash-object -w "$file")" "$file"
	fi
done | git update-index --index-info
