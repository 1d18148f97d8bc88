"""Of `watch`: a simulated world, a year of visits in it, and pictures."""
