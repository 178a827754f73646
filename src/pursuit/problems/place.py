"""Where the points of a scheme lie: scaled, and then inside bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pursuit.checks import Vector
from pursuit.compiling.cache import compiled
from pursuit.compiling.jit import inlined
from pursuit.compiling.vectors import Matrix
from pursuit.problems.bounds import image_at_bound, reflect
from pursuit.problems.boxes import Box, active_mask
from pursuit.problems.scaled import rescale, to_x
from pursuit.problems.scales import Scale


class Place(NamedTuple):
    """What moves the points of a scheme to where they are evaluated, of one type whatever there is to do.

    So compiled code that knows only this, and not the problem, is compiled once for all.

    Examples
    --------
    >>> import numpy as np
    >>> from pursuit.problems.bounds import make_box
    >>> from pursuit.problems.place import Place
    >>> place = Place.of(None, make_box(np.zeros(2), np.ones(2), 0.0))
    >>> place.moved(np.array([0.5, 3.0])), place.at_bound(np.array([0.5, 3.0]))
    (array([0.5, 1. ]), 1)
    """

    scale: Scale = Scale(np.empty(0), np.empty(0))
    """Empty arrays where points are not scaled."""
    box: Box = Box(np.empty(0), np.empty(0), np.empty(0))
    """Empty arrays where there are no bounds."""

    @classmethod
    def of(cls, scale: Scale | None, box: Box | None) -> Place:
        """Return the place with a scale and bounds, where there are any."""
        everywhere = cls()
        return cls(everywhere.scale if scale is None else scale, everywhere.box if box is None else box)

    @property
    def move(self) -> Callable[[Matrix], None] | None:
        """What replaces points as a scheme sees them, one a row, by those that they stand for.

        None where these are the same.
        """
        scale, box = self
        to_box, to_scale = compiled(reflect), compiled(rescale)
        if scale.factor.size == 0:
            return None if box.lower.size == 0 else lambda points: to_box(points, box)
        if box.lower.size == 0:
            return lambda points: to_scale(points, scale)

        def move(points: Matrix) -> None:
            to_scale(points, scale)
            to_box(points, box)

        return move

    def moved(self, point: Vector) -> Vector:
        """Return the point that one as a scheme sees it stands for, as a copy."""
        image, move = point.copy(), self.move
        if move is not None:
            move(image[np.newaxis])
        return image

    def at_bound(self, point: Vector) -> int:
        """Return how many variables are at a bound, at the point that one as a scheme sees it stands for."""
        if self.box.lower.size == 0:
            return 0
        return int(np.count_nonzero(active_mask(self.moved(point), self.box)))


@inlined
def placed_at_bound(team: Any, place: Any, x: Any, room: Any) -> Any:
    """Return the same in compiled code; `room` is for a point, and is overwritten."""
    if place.box.lower.shape[0] == 0:
        return 0
    point = x
    if place.scale.factor.shape[0] > 0:
        to_x(team, room.shape[0], room, x, place.scale)
        point = room
    return image_at_bound(team, place.box, point, room)
