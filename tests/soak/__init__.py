"""A soak anyone can run: trainings, grids and workers are killed, disks filled and files damaged; nothing may be lost.

    python -m tests.soak --seconds 1800

It uses only the `cup` command and the files that runs leave, and ends only processes that it started.
"""
