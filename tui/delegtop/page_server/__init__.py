"""The live page in a browser: a server for one machine's own eyes, that only reads and trusts nobody who asks.

Whatever else runs in that browser, or on that machine, may knock at its port. So it listens on loopback alone, and
answers whoever names it rightly, comes from its own page and brings what only the printed address gives.
"""
