"""`python -m boostkmeans` is `boostkmeans`."""

from boostkmeans.cli import main

main()
