"""All crawls together: what they hold of the URLs that live, and what none of them ever held."""
