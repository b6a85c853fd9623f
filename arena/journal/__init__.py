"""What was played: the lines of a journal, the ways a round can end (the kinds of faults too), the file the lines are
appended to, the reader that decides which of them count, the state of a tournament that follows from them, its format,
which says what is next and when it is over, and what can be proven from them alone (verify). Statistics are in stats,
boards and steps in replay."""
