"""Capture histories: who was captured when, and what follows from it."""
