#!/bin/sh
# Usage: tools/in_venv.sh TOOL ARGUMENT...
# Runs a tool of .venv, or the one on the PATH if .venv does not have it.
PATH="$PWD/.venv/bin:$PATH" exec "$@"
