#!/bin/sh
# Makes a bucket equal to a build, with rclone (what else is in the bucket is removed): deploy/fill-bucket.sh dist [option of rclone, such as --dry-run]...
# OBJECTS_ENDPOINT, OBJECTS_BUCKET, OBJECTS_REGION (auto), AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY name the bucket. What is
# removed from the build is removed after all uploads; after an interruption run it again. One at a time.
set -eu
dist=${1:?the folder of the build}
shift
test -d "$dist/v0.9" || test -e "$dist/_headers" || { echo "$dist: has no build" >&2 && exit 2; }
export RCLONE_CONFIG=/dev/null RCLONE_CONFIG_BUCKET_TYPE=s3 RCLONE_CONFIG_BUCKET_PROVIDER=Other RCLONE_CONFIG_BUCKET_ENV_AUTH=true
export RCLONE_CONFIG_BUCKET_ENDPOINT="${OBJECTS_ENDPOINT:?the address of the S3 service, without the bucket}"
export RCLONE_CONFIG_BUCKET_REGION="${OBJECTS_REGION:-auto}" RCLONE_CONFIG_BUCKET_NO_CHECK_BUCKET=true RCLONE_CONFIG_BUCKET_NO_HEAD=true
export RCLONE_CHECKSUM=true RCLONE_FAST_LIST=true RCLONE_TRANSFERS=32 RCLONE_CHECKERS=32
bucket="bucket:${OBJECTS_BUCKET:?the name of the bucket}"
# Fragments have no file extension; the extension of the other files gives their type.
rclone sync "$dist" "$bucket" --filter '- *.*' --filter '- /_headers' \
	--header-upload 'Content-Type: application/json; charset=utf-8' \
	--header-upload 'Cache-Control: public, max-age=60, stale-while-revalidate=60, stale-if-error=86400' "$@"
rclone sync "$dist" "$bucket" --filter '- *.gz' --filter '- *.br' --filter '- .*' --filter '+ *.*' --filter '- *' "$@"
