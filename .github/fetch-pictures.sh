#!/usr/bin/env bash
# Puts the branch pictures into a new folder of that name.
set -euo pipefail
mkdir pictures
if git fetch --quiet --depth 1 origin refs/heads/pictures; then git archive FETCH_HEAD | tar --extract --directory pictures; fi
