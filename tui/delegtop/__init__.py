"""delegtop: top for AI-agent delegation."""

__version__ = "0.1.0"
