"""Warnings that are told: channels, and messages sent until they arrive."""
