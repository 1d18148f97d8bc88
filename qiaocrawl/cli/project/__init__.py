"""Commands that set up a project folder and run it: init, startproject, crawl, run, schedule."""
