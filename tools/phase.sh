#!/bin/sh
# Usage: tools/phase.sh [--quiet] MESSAGE COMMAND...
# Prints the message, runs the command and prints how long it took. With --quiet, the output of the command is
# shown only if the command fails.
quiet=
if [ "$1" = --quiet ]; then
  quiet=yes
  shift
fi
message=$1
shift
began=$(date +%s)
if [ -n "$quiet" ]; then
  printf '%s ... ' "$message"
  log=$(mktemp "${TMPDIR:-/tmp}/boostkmeans.XXXXXX")
  "$@" >"$log" 2>&1
  code=$?
else
  printf '%s ...\n' "$message"
  "$@"
  code=$?
fi
seconds=$(($(date +%s) - began))
elapsed="$((seconds % 60)) s"
[ $seconds -lt 60 ] || elapsed="$((seconds / 60)) min $elapsed"
if [ $code -eq 0 ]; then
  echo "done in $elapsed"
else
  echo "failed after $elapsed"
  [ -z "$quiet" ] || cat "$log"
  echo "The command was: $*"
fi
[ -z "$quiet" ] || rm -f "$log"
exit $code
