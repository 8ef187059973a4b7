"""What was damaged in one input, up to a number of places that tells enough."""

from dataclasses import replace

from crawlgauge.damage import Damage

__all__ = ["DamageLog"]

_MAX_DAMAGES = 1000
"""Hostile bytes can be damaged at every turn; the first places tell enough."""


class DamageLog:
    """The damage of one input that was got over.

    Attributes
    ----------
    damages
        In the order in which they were met; the last one may stand for many.
    """

    def __init__(self) -> None:
        self.damages: list[Damage] = []
        self._n_more = 0

    def note(self, damage: Damage) -> None:
        """Note damage."""
        if len(self.damages) < _MAX_DAMAGES:
            self.damages.append(damage)
            return
        self._n_more += 1
        self.damages[-1] = Damage(
            file=damage.file,
            byte=None,
            reason=f"{self._n_more + 1:,} further places are damaged",
            lost="what stood there",
        )

    def amend(self, damage: Damage, lost: str) -> None:
        """Say what was lost by damage that has been noted, unless another stands for it by now."""
        if damage in self.damages:
            self.damages[self.damages.index(damage)] = replace(damage, lost=lost)
