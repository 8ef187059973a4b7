"""How much of an external reference the crawls hold, and what that says about coverage."""
