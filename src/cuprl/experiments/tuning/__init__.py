"""Settings found by trials: what is searched (space), what a trial is worth (score), what is kept (study), the search."""
