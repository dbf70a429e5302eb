"""What is kept of a run: its configuration, its metrics, its checkpoints, and what made it."""
