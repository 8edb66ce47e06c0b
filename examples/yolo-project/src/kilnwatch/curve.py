"""A firing curve: points of (minute, degrees), straight lines between them."""


def expected(points: list[tuple[int, float]], minute: float) -> float:
    """Where the kiln should be at this minute."""
    for (start, low), (end, high) in zip(points, points[1:]):
        if start <= minute <= end:
            return low + (high - low) * (minute - start) / (end - start)
    return points[-1][1]
