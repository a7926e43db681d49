#!/bin/sh
# The hook of fragment-publisher, written again at each start of the service.
# Put a hook of your own beside it, as pre-receive.local: it runs after this one has accepted a push.
own=@NODE@
folder=${0%/*}

refuse() {
	printf '%s\n' "refused, because it could not be checked: $1" \
		"Operator of the service: start it again with a Node that stays where it is, or put Node 20.11 or newer into the PATH of the user $(id -un)." >&2
	exit 1
}

# Limit of the memory of each process of the hook, in KiB: a push must not use up the machine's memory.
# If the machine has a lower limit, that one stays.
ulimit -d 2097152 2>/dev/null || :
node=$own
[ -x "$node" ] || node=$(command -v node) || refuse "there is no Node at $own, and none in the PATH"
updates=$(cat)
printf '%s\n' "$updates" | "$node" "$folder/fragment-publisher.mjs"
code=$?
[ "$code" -le 1 ] || refuse "$node ended with code $code"
[ "$code" -eq 0 ] || exit 1
[ -x "$folder/pre-receive.local" ] || exit 0
printf '%s\n' "$updates" | "$folder/pre-receive.local"
