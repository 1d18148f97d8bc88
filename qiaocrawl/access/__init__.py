"""Not being blocked: proxies, browser identities, signs of a block (Q3). Pure decisions."""
