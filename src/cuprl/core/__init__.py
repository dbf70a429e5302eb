"""What everything else speaks of: specs, tasks, episodes, values as people write them. NumPy alone."""
