"""What each kind of run asks for: queries, sites, watched pages."""
