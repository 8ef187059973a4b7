"""Run the command line with ``python -m crawlgauge``."""

from crawlgauge.cli.main import main

if __name__ == "__main__":
    main()
