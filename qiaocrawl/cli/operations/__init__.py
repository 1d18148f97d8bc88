"""What keeps it running: figures for machines, and clusters that help."""
