"""The arena joins the rules (engine) and the wire (protocol). Its rooms, and which of them may import which, are
listed in tests/test_architecture.py."""
