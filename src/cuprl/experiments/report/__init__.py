"""What the results say: statistics, tables, pictures."""
