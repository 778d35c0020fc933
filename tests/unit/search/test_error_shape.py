"""What makes two errors, or two calls that stand still, the same."""

import pytest
from tests.patience import cost

from delegtop.search.error_shape import shape


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("npm test -- --shard=3", "npm test -- --shard=12"),
        ("API Error: 529 Overloaded (request req_011CUabc)", "API Error: 529 Overloaded (request req_9xYz12345)"),
        ("cat src/beds/plan.py", "cat lib/plan.py"),
        ("cat /srv/garden/plan.py", "cat plan.py"),
        ("cat ../plan.py", "cat ~/plan.py"),
        ("pytest --rootdir=src tests/a/test_plan.py", "pytest --rootdir=src tests/test_plan.py"),
        ("500 from https://one.example/a", "500 from https://other.example/b?c=1"),
        ("connect 127.0.0.1:80 refused", "connect 10.1.2.3:8080 refused"),
        ("rerun --job_1234567", "rerun --job_7654321"),
    ],
)
def test_what_differs_each_time_makes_no_difference(one: str, other: str) -> None:
    assert shape(one) == shape(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("npm test", "npm run lint"),
        ("cat src/plan.py", "cat src/beds.py"),
        ("429 rate limit", "529 overloaded"),
        ("rerun --job_1234567", "rerun job_1234567"),
    ],
)
def test_another_word_is_another_thing(one: str, other: str) -> None:
    assert shape(one) != shape(other)


@pytest.mark.parametrize("piece", ["a-", "a_", "abcdefg-", "/", "a/", "x", "1.", "'", "0x", "http://", " "])
def test_long_rows_of_anything_cost_no_more_than_other_words(piece: str) -> None:
    words = "an error of the greenhouse " * 200
    assert cost(lambda: shape(piece * 5_000 + "!")) < 40 * cost(lambda: shape(words))
