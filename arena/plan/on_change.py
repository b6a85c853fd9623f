"""What happens when a tournament resumes and the program of a bot is not the one that played before."""

import enum


class OnChange(enum.Enum):
    REFUSE = "refuse"
    CONTINUE = "continue"  # and tell the rounds apart
