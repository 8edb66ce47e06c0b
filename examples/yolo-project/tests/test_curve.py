from kilnwatch.curve import expected


def test_halfway_between_two_points():
    assert expected([(0, 20.0), (60, 620.0)], 30) == 320.0
