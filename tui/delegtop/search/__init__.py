"""Everything this machine's agents ever did, to be found by words."""
