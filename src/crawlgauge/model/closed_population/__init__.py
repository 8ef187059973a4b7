"""Estimators of populations without births and deaths, for comparison."""
