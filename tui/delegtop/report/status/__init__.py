"""How everything stands, in one line: kept in a small file, so that a status bar has it without reading a log."""
