"""`qiaocrawl coverage`: what was asked, what was answered, what is missing."""
