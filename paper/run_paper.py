"""All experiments of the paper: `python paper/run_paper.py [NAME ...]`. See `experiment.py`."""

import sys

from experiment import main

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import claims
from all_experiments import EXPERIMENTS, RELATED

__all__ = ["EXPERIMENTS", "RELATED"]

if __name__ == "__main__":
    code = main(*EXPERIMENTS, *RELATED)
    if "--estimate" not in sys.argv:
        claims.write_page()
    sys.exit(code)
