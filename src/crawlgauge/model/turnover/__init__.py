"""What becomes of URLs from crawl to crawl, by counting alone: kept, dropped, found again."""
