"""Topic packs: the words, sites and samples that define a topic; load, check, save."""
