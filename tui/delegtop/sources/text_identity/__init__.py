"""Which text a file holds, whatever the file is called now."""
