"""What to run: experiments as data, and the cells they expand to."""
