"""Why an operation of a channel has failed. Each is also the builtin exception that programs expect there."""

import queue


class Error(Exception):
    """Any failure of a channel."""


class Ended(Error, ConnectionError):
    """The channel has ended for good."""


class Closed(Ended, BrokenPipeError, EOFError):
    """The other side has closed its end. All that it had sent was received before."""


class Died(Ended, ConnectionResetError):
    """The other side's process has died. All that it had sent was received before."""


class Broken(Ended):
    """The other side has broken the protocol. Nothing of it is believed any more."""


class Refused(Ended, ConnectionRefusedError):
    """There is no connection. `errno` is set if the system says so."""


class Full(Error, queue.Full):
    """There is no room now."""


class Empty(Error, queue.Empty):
    """There is no message now."""


class Timeout(Error, TimeoutError):
    """There was no room, or no message, for all that time."""


class Unanswered(Error):
    """The receiver has dropped the question."""


class Lagged(Error):
    """A receiver of a lossy broadcast was too slow: `lost` messages are lost. It goes on with the next call."""

    def __init__(self, lost: int) -> None:
        super().__init__(f"{lost} messages are lost")
        self.lost = lost

    def __reduce__(self) -> tuple[type["Lagged"], tuple[int]]:
        return Lagged, (self.lost,)
