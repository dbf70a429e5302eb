"""Running the cells of a grid: on this machine, or on Ray."""
