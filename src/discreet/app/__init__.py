"""The local web app: from a file to an audited release and a report, on the steward's own machine.

server, guard     the server, and what it refuses: strangers, other sites, other names of this machine
desk              what is being worked on: one table, its roles, a choice, a release
task              long work in a process of its own, with progress, which can be cancelled
pages             screens filled in from templates, and the headers of every answer
screens/          a file for each screen: open, table, choose, publish, count, report, working
"""
