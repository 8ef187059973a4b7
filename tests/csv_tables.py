"""Overlap tables that are written down as CSV."""

from crawlgauge.overlaps.csv_table import read_sheet, table_from_sheet


def from_csv(text, *, name):
    return table_from_sheet(read_sheet(text, name))
