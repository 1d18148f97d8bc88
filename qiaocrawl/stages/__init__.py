"""What happens to one page: analysed, followed, joined to its parts, its title compared."""
