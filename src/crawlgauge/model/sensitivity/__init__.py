"""What moves the estimates: the same made again without a crawl, a regime, short lags or URLs."""
