"""Tools for authors of bots: check whether a bot is fit to play (check), list the decisions that changed since an
earlier version (regress), and write a first bot to start from (starters), in Python with a copy of the SDK (sdk_copy).
For organisers: try to get out of the sandbox (sandbox_trial). They return texts and findings; cli prints them.
"""
