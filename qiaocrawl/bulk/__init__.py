"""Work on many stored pages at once: on this machine's processors, or on a Dask cluster.

Whoever gives the work reads the pages and writes the results; workers only compute. So there is
one writer on any database, SQLite too, and a worker that dies has written nothing.
"""
