"""The names of the orders, for who only has to know which there are."""

PROBLEMS = "problems"
"""By what presses most: whoever judges delegations knows that."""

ORDERS = {
    PROBLEMS: "what to look at first",
    "start": "what began first",
    "name": "by name, from A",
    "project": "by the folder it works in",
    "host": "by the machine it is on",
    "task": "by the number or name of the task",
    "state": "by state: what goes on, what went wrong, what is done",
    "depth": "the deepest",
    "deadline": "the least time left",
    "age": "the longest at work",
    "quiet": "the longest not heard of",
    "tokens": "the most tokens",
    "cost": "the most dollars, told or estimated",
    "doing": "by what they do, from A",
}
"""By name what comes first."""
