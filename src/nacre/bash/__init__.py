"""Shell text → tree: the one reading of shell text for every module that needs one.

Pure: text in, values out; only a deadline comes from outside. Nothing is expanded and nothing is judged here.
Reading order:

1. `tree`: what a script becomes: words made of parts, commands, blocks, one flat sequence of steps.
2. `reader`: `read(source)`, statements and compound commands; the entry.
3. `constructs`: the compounds that are open, and what connects two commands.
4. `simple_commands`: assignments, redirections, here-documents, runs of words.
5. `scanner`, `expansions`, `backslashes`: one word, its quotes, and what bash replaces in it.
6. `cursor`, `budget`: the position that all of these move, and the time they may take.
7. `command_shape`, `fragments`, `quoting`: questions that other rooms ask of the tree.
8. `second_reading`: tree-sitter, a second opinion on text that is not valid shell.
"""
