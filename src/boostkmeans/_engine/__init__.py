"""The run of a fit: problem, plan, schedule, history, checkpoint."""
