"""Pages in HTML: a run or an experiment as one file that needs no network, or served while the run goes on."""
