"""The commands: one module or folder per command."""
