"""The store's sets and overlaps made on a Spark cluster: the same numbers, from many machines.

What a machine does is done by the same code as without Spark: readers, keys, sorted runs and the
counting of hash ranges. Spark hands out the work, carries sorted keys between machines and starts
again what has failed.
"""

from crawlgauge.spark.session import check_packages, start

check_packages("pyarrow")
# These import it.
from crawlgauge.spark.adding import add, add_list, split  # noqa: E402
from crawlgauge.spark.counting import overlaps  # noqa: E402

__all__ = ["add", "add_list", "overlaps", "split", "start"]
