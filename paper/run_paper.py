"""All experiments of the paper: `python paper/run_paper.py [NAME ...]`. See `experiment.py`."""

import sys

from experiment import Experiment, main

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import claims
import fig1_iterations
import fig2_lloyd_condition
import fig3_distortion
import fig3d_significance
import fig4_recall
import fig5_scalability
import table2_bisecting
import table3_entropy
import top_k0

# In the order of the paper. Add a new experiment here.
EXPERIMENTS: list[Experiment] = [
    fig1_iterations,
    fig2_lloyd_condition,
    fig3_distortion,
    fig3d_significance,
    table2_bisecting,
    top_k0,
    fig4_recall,
    table3_entropy,
    fig5_scalability,
]

if __name__ == "__main__":
    code = main(*EXPERIMENTS)
    if "--estimate" not in sys.argv:
        claims.write_page()
    sys.exit(code)
