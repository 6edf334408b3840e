"""All experiments of the paper, and those about related results."""

from experiment import Experiment

# isort: split
# The import above sets the number of threads, which must happen before NumPy is imported.
import cluto_criteria
import fast_moves
import fig1_iterations
import fig2_lloyd_condition
import fig3_distortion
import fig3d_significance
import fig4_recall
import fig5_scalability
import lloyd_fixed_points
import objectives
import pair_refinement
import photos
import sections
import split_priority
import table2_bisecting
import table3_entropy
import top_k0
import tree_oracle

# In the order of the paper. Add a new experiment here.
EXPERIMENTS: list[Experiment] = [
    fig1_iterations,
    fig2_lloyd_condition,
    objectives,
    fig3_distortion,
    fast_moves,
    fig3d_significance,
    table2_bisecting,
    pair_refinement,
    sections,
    split_priority,
    top_k0,
    fig4_recall,
    table3_entropy,
    fig5_scalability,
    photos,
]
# Experiments about results of other papers, and about this implementation.
RELATED: list[Experiment] = [lloyd_fixed_points, cluto_criteria, tree_oracle]
