"""`qiaocrawl topic`: packs, their sites and samples, and judgements."""
