"""What operators ask next: a Python function for each question, and its answer as text and JSON."""
