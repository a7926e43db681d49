#!/bin/sh
# Puts a worker that was built on Cloudflare, with wrangler of deploy/workers: .github/deploy-worker.sh assets|bucket FOLDER
set -eu
config=wrangler.jsonc
if [ "$1" = bucket ]; then
  config=deploy/workers/bucket.jsonc
  sed "s/\"bucket_name\": \"[^\"]*\"/\"bucket_name\": \"$OBJECTS_BUCKET\"/" deploy/workers/objects.jsonc > "$config"
fi
folder=$2
set -- --no-bundle --keep-vars --config "$config"
if [ "$config" = wrangler.jsonc ]; then set -- "$@" --assets "$folder/dist"; fi
export WRANGLER_SEND_METRICS=false WRANGLER_SEND_ERROR_REPORTS=false
exec node deploy/workers/node_modules/wrangler/bin/wrangler.js deploy "$folder/deploy/workers/dist/worker.js" "$@"
