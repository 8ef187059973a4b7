"""Keys become a sorted set per crawl, kept in files that survive a kill at any moment."""
