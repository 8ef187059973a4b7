"""The command line: one file per command, each parses options, calls the API and prints."""
