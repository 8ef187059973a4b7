"""Known truth becomes archives to test the method with."""
