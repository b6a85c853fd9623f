"""What a hostile bot might try against the machine that it runs on, as a program that a bot can be.

Each attempt is a function. It returns what it got if the attack succeeded, and raises OSError or Refused if it did not.
The host lays out baits, and an attempt touches nothing else: without a sandbox the attacks succeed, and do no harm.

This package uses only the standard library and runs on Python 3.9, because it runs inside the sandbox, on whatever
interpreter is there. packed.py makes one file of it.
"""
