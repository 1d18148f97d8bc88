"""Stages run again over what is stored: pages, groups of reprints, title weights."""
