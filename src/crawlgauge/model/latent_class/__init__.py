"""Latent classes of URLs with trap response: uneven capture and lifetimes in the histories."""
