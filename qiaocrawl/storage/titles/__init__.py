"""Tables of titles: the log, verdicts, reprint groups and term weights."""
