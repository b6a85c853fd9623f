"""What a hostile bot might try against the machine that it runs on. The attempts that an organiser makes with
`arena sandbox` are in arena/devtools/sandbox_attempts.py; these are the others.

This package uses only the standard library and that module, and runs on Python 3.9, because it runs inside the sandbox,
on whatever interpreter is there. tests/helpers/escape_targets.py makes one file of it.
"""
