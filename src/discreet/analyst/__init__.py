"""How useful a release is: information losses, count queries and workloads."""
