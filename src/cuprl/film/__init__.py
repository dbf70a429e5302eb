"""Videos of what a policy does: the frame, the numbers drawn into it, the file."""
