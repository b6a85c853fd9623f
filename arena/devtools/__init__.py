"""Tools for authors of bots: is a bot fit to play (check), where does it decide differently than before (regress),
and a first bot to start from (starters), in Python with a copy of the SDK beside it (sdk_copy). Each returns findings;
cli prints them."""
