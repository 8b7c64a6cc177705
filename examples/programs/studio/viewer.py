"""A viewer of the studio: reads its frames where the studio has drawn them, checks each, and tells the studio what it has seen.

    python viewer.py NAME                  until the studio closes, or SIGTERM or SIGINT comes
    python viewer.py NAME --terminal       shows the pictures, small, in a terminal with colours
    python viewer.py NAME --save FILE.ppm  keeps the last frame that it has seen
    python viewer.py NAME --order mute     gives an order, and ends: mute, unmute, next_pattern, stop

The exit status is 1 if frames were missed or damaged, and 2 if there is no such studio or it has died.
"""

from __future__ import annotations

import argparse
import signal
import struct
import sys
import time
import zlib
from typing import NamedTuple

import ysuite

ORDERS = {"mute": 0, "unmute": 1, "next_pattern": 2, "stop": 3}
# A message to the studio, as `viewer_state` in src/viewers.hpp.
STATE = struct.Struct("<IIQQQQq")
SAW_FRAME, GIVES_ORDER = 0, 1


class Head(NamedTuple):
    """How a frame begins, as `frame_head` in src/video.hpp."""

    magic: bytes
    number: int
    drawn_ns: int
    width: int
    height: int
    pattern: int
    checksum: int
    skipped: int


HEAD = struct.Struct("<8sQqIIIIQ16x")


class Damaged(Exception):
    """A frame is not as the studio has drawn it."""


class Studio:
    """The way to the studio: states and orders. What there is no room for is told later."""

    def __init__(self, name: str) -> None:
        self.sender = ysuite.Sender.connect(f"{name}-states", 64 << 10)
        # By this it says hello. There may be no frame, and so nothing to tell, for longer than the studio waits for that.
        self.sender.is_disconnected()
        self.untold_missed = self.untold_bad = 0

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.sender.close()

    def saw(self, number: int, seen: int, age_ns: int) -> None:
        self._tell(SAW_FRAME, 0, number, seen, age_ns)

    def order(self, which: str, number: int = 0, seen: int = 0) -> None:
        self._tell(GIVES_ORDER, ORDERS[which], number, seen, 0)

    def _tell(self, what: int, which: int, number: int, seen: int, age_ns: int) -> None:
        message = STATE.pack(what, which, number, seen, self.untold_missed, self.untold_bad, age_ns)
        try:
            self.sender.try_send(message)
        except ysuite.Full:
            return
        self.untold_missed = self.untold_bad = 0


class Viewer:
    """Counts and checks. Of the pixels it keeps nothing, unless it is to save or to show them."""

    def __init__(self, studio: Studio, arguments: argparse.Namespace) -> None:
        self.studio = studio
        self.orders_each: int = arguments.orders_each
        self.is_shown: bool = arguments.terminal
        self.is_saved = arguments.save is not None
        self.picture: tuple[Head, bytes] | None = None
        self.last: int | None = None
        self.seen = self.missed = self.bad = 0

    def see(self, frame: ysuite.Borrowed) -> None:
        """One frame, of which nothing is used afterwards."""
        # Slices are released before the view is, and that before the frame is given back.
        with memoryview(frame) as view:
            try:
                head = self._checked(view)
            except Damaged as error:
                print(f"viewer: {error}", file=sys.stderr)
                self.bad += 1
                self.studio.untold_bad += 1
                return
            if self.is_saved:
                self.picture = head, bytes(view[HEAD.size :])
            if self.is_shown:
                print(terminal(head, view), end="", flush=True)
        # A sender of loans leaves nobody out: what it has skipped has no number.
        if self.last is not None and head.number != self.last + 1:
            print(f"viewer: frame {head.number} comes behind {self.last}", file=sys.stderr)
            self.missed += 1
            self.studio.untold_missed += 1
        self.last = head.number
        self.seen += 1
        self.studio.saw(head.number, self.seen, time.monotonic_ns() - head.drawn_ns)
        if self.orders_each and self.seen % self.orders_each == 0:
            self.studio.order("next_pattern", head.number, self.seen)

    @staticmethod
    def _checked(view: memoryview) -> Head:
        if view.nbytes < HEAD.size:
            raise Damaged(f"a frame of {view.nbytes} bytes")
        head = Head(*HEAD.unpack_from(view))
        if head.magic != b"studio-1":
            raise Damaged(f"a frame that begins with {head.magic!r}")
        if view.nbytes != HEAD.size + head.width * head.height * 4:
            raise Damaged(f"frame {head.number} has {view.nbytes} bytes, for {head.width} x {head.height}")
        with view[HEAD.size :] as pixels:
            checksum = zlib.adler32(pixels)
        if checksum != head.checksum:
            raise Damaged(f"frame {head.number} has the checksum {checksum:#x}, and should have {head.checksum:#x}")
        return head


def terminal(head: Head, view: memoryview, columns: int = 64, rows: int = 18) -> str:
    """The picture as half blocks of two colours: of the pixels in between nothing is read."""
    with view[HEAD.size :] as pixels, pixels.cast("I") as words:

        def color(column: int, row: int) -> str:
            x, y = column * head.width // columns, row * head.height // (2 * rows)
            word = words[y * head.width + x]
            return f"{word >> 16 & 255};{word >> 8 & 255};{word & 255}"

        lines = (
            "".join(f"\x1b[38;2;{color(column, row)};48;2;{color(column, row + 1)}m▀" for column in range(columns))
            for row in range(0, 2 * rows, 2)
        )
        text = "\x1b[0m\n".join(lines)
    return f"\x1b[H{text}\x1b[0m\nframe {head.number}, {head.skipped} left out\x1b[K\n"


def save(picture: tuple[Head, bytes], path: str) -> None:
    """As a portable pixmap: red, green, blue."""
    head, pixels = picture
    rgb = bytearray(head.width * head.height * 3)
    for part in range(3):
        rgb[part::3] = pixels[2 - part :: 4]
    with open(path, "wb") as file:
        file.write(b"P6 %d %d 255\n" % (head.width, head.height))
        file.write(rgb)


class Leave:
    """Whether a signal has asked for the end. The handler raises nothing: a frame in hand is finished first."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, *_: object) -> None:
        self.asked = True


def watch(name: str, viewer: Viewer, leave: Leave) -> None:
    """Until the studio has closed, or this is to leave."""
    # Who views a studio trusts it: with views=True it reads what the studio could still write.
    with ysuite.LoanReceiver.connect(f"{name}-frames", views=True) as frames:
        while not leave.asked:
            try:
                frame = frames.recv(timeout=0.2)
            except ysuite.Timeout:
                # Nothing is drawn while another viewer has all slots: so this looks whether it is to leave.
                continue
            with frame:
                viewer.see(frame)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A viewer of the studio.")
    parser.add_argument("name", help="that of the studio")
    parser.add_argument("--terminal", action="store_true", help="show the pictures here")
    parser.add_argument("--save", metavar="FILE.ppm", help="keep the last frame")
    parser.add_argument("--order", choices=ORDERS, help="give this order, and end")
    parser.add_argument("--orders-each", metavar="N", type=int, default=0, help="order the next pattern after each N frames")
    return parser.parse_args()


def main() -> int:
    leave, arguments = Leave(), read_arguments()
    viewer = None
    try:
        with Studio(arguments.name) as studio:
            if arguments.order is not None:
                studio.order(arguments.order)
                return 0
            viewer = Viewer(studio, arguments)
            watch(arguments.name, viewer, leave)
    except ysuite.Closed:
        # The studio has ended.
        pass
    except (ysuite.Ended, OSError) as error:
        print(f"viewer: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    if viewer is not None and viewer.picture is not None:
        save(viewer.picture, arguments.save)
    return 1 if viewer is None or viewer.missed or viewer.bad else 0


if __name__ == "__main__":
    sys.exit(main())
