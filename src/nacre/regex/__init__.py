"""Regular expressions that cost the same for every character: no backtracking, no text that stalls the program.

A model writes the expression and a command the text, and both would hold up the host's event loop; so these are matched
by an automaton. The syntax is Python's, without what no automaton can do (lookaround, back references, atomic groups).
Each line is matched for itself: `^` and `$` are its ends, and nothing matches across a line end.

syntax reads the expression, automaton runs it. Pure.
"""
