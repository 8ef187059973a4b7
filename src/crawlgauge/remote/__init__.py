"""Objects on remote storage, read as if they were files: names, faults, retries, read-ahead."""
