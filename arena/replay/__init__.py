"""A recorded round step by step: positions, what moved, why a claim was possible, what one seat could see, and all of
it as text for a terminal; and one position by itself, as `arena show` draws it. Reading keys is in cli, pages for a
browser are in pages."""
