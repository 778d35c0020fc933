"""Questions that a model asks over the Model Context Protocol: which delegation is stuck, why, and has it moved yet.

It answers and never acts. Only `stdio_server` knows the protocol; everything else can be asked without it.
"""
