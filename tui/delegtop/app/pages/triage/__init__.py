"""The parts of triage: which problems there are, what is said of each, and what the operator noted of them."""
