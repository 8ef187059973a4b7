"""Captures of inputs become one crawl's set: options, dates, one crawl, many crawls, splitting."""
