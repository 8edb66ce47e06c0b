from kilnwatch.probe import parse


def test_a_bad_line_is_no_reading():
    assert parse("ERR\n", 4) is None
