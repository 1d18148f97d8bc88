"""Text: charset, normal forms, segmentation and dates. Pure functions over strings."""
