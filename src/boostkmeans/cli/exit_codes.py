"""Exit codes of the commands."""

# The command could not finish, e.g. because the disk is full.
FAILURE = 1
# The options or file names are wrong.
USAGE_ERROR = 2
# A file has invalid content.
BAD_DATA = 3
# The user pressed Ctrl-C. As in any shell, the code is 128 plus the number of SIGINT.
INTERRUPTED = 130
