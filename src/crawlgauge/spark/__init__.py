"""The store's sets and overlaps made on a Spark cluster: the same numbers, from many machines.

What a machine does is done by the same code as without Spark: readers, keys, sorted runs and the
counting of hash ranges. Spark hands out the work, carries sorted keys between machines and starts
again what has failed.
"""

from crawlgauge.spark.adding import add, add_list, split
from crawlgauge.spark.counting import overlaps
from crawlgauge.spark.session import start

__all__ = ["add", "add_list", "overlaps", "split", "start"]
