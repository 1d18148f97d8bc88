"""The shared objects of one run, how it ends, and what happens to one page."""
