"""Policies that act: of a run, or of a file that stands for itself."""
