"""How fast training is, how it grows, and how long an action takes."""
