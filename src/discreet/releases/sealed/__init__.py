"""Groups of rows, with what the search for them may have told about each."""
