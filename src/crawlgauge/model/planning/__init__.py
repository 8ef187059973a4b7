"""What to crawl next: sizes and frequencies for a wanted coverage, by the estimates of a series."""
