"""What is kept of finished runs, and which of it still counts."""
