"""Agent definition files: how they are read, and the rules that judge them."""
