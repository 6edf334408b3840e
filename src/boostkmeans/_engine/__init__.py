"""The runs of a fit: plan, run, schedule, stopping criteria, history, checkpoint."""
