"""Whether the newest crawl is in line with the ones before it, and if not, what has changed."""
