"""Coverage from what happened to URLs while they were known to be alive."""
