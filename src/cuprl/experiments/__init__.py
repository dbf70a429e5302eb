"""Grids of runs and what is made of them."""
