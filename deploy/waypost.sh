#!/bin/sh
# Starts Waypost with the Node.js that came with it.
prefix="$(dirname "$(dirname "$(readlink -f "$0")")")"
exec "$prefix/lib/waypost/node" "$prefix/lib/waypost/app/dist/main.js" "$@"
