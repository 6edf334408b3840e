"""The control flow of a fit: plan, schedule, runs, history and checkpoints."""
