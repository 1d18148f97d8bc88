"""Tables of sites: hosts, discovery, watching, proxies, accounts."""
