#!/bin/sh
# Starts the browser $BROWSER_FILE with a limit for the memory of each of its processes, in kB: a picture of a kilobyte can
# take gigabytes. A process over the limit ends, and the layer is recorded as not drawn.
ulimit -d 1500000 2>/dev/null
exec "$BROWSER_FILE" "$@"
