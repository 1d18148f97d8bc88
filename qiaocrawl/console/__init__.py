"""The console: a web page for the people who read, mark and steer what is collected.

Pages are thin: they call the functions the command line calls. Everything in ``areas`` is a
page; ``security`` stands before each of them.
"""

from __future__ import annotations
