#!/bin/sh
# Usage: tools/phase.sh [--quiet] MESSAGE COMMAND...
# Prints the message, runs the command and prints how long it took. With --quiet, the output of the command is
# shown only if the command fails.
quiet=
if [ "$1" = --quiet ]; then
  quiet=yes
  shift
fi
echo "$1 ..."
shift
began=$(date +%s)
if [ -n "$quiet" ]; then
  log=$(mktemp "${TMPDIR:-/tmp}/boostkmeans.XXXXXX")
  "$@" >"$log" 2>&1
  code=$?
  [ $code -eq 0 ] || cat "$log"
  rm -f "$log"
else
  "$@"
  code=$?
fi
seconds=$(($(date +%s) - began))
if [ $code -eq 0 ]; then
  echo "  done in $((seconds / 60)) min $((seconds % 60)) s"
else
  echo "  failed after $((seconds / 60)) min $((seconds % 60)) s: $*"
fi
exit $code
