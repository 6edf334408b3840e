"""Entry point of `python -m boostkmeans`, which runs the command `boostkmeans`."""

from boostkmeans.cli import main

main()
