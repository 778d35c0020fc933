"""What the inspector says of one delegation: one module a tab, each a plain function from facts to blocks of text."""
