"""The kernel as a second witness: what processes do while their logs are silent.

A log is silent both when a tool works hard and when it hangs. The kernel knows the difference: whether anything moves,
what a process waits for, and who could end that wait. Everything here reads `/proc` of one's own processes and changes
nothing. What cannot be seen is never guessed.
"""
