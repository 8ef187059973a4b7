"""Strata: coverage, persistence and population of each host, domain, media type or status."""
