"""Archives to measure with: realistic files and sets whose overlaps are known beforehand."""
