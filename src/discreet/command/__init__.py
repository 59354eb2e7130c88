"""The command line: reads flags or a job file, prints results and errors as sentences, and returns exit codes."""
