"""Rendering in Chromium: pages, contexts, what it may reach, and what is learnt of it."""
