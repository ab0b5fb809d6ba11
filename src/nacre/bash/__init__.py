"""Understanding a script: from shell text to the commands it would run.

Pure: text in, values out; no file, process or clock of the machine is read, except a deadline handed in.
What cannot be known stays unknown (see `alphabet`); what unknown means is for the policy to say.
"""
