"""The command line: flags or a job file in, sentences and exit codes out."""
