"""Sites in the tables: hosts, discovery, watching, proxies, accounts."""
