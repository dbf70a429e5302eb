"""A run while it goes on: acting, learning, recording."""
