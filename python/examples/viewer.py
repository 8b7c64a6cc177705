"""Shows what a camera in Rust films: frames of pixels, in the memory where the camera has put them.

    cargo build --release --manifest-path python/Cargo.toml -p ysuite-python-examples --bin camera
    python python/examples/viewer.py python/target/release/camera
"""

import os
import struct
import subprocess
import sys

import ysuite

try:
    import numpy
except ImportError:
    numpy = None

HEAD = struct.Struct("<III")


def brightness(frame, height, width):
    """Of one row, without numpy; of all, with it. Neither copies the pixels. Nothing of the frame is used behind it."""
    if numpy is None:
        with memoryview(frame) as view:
            return sum(view[HEAD.size : HEAD.size + width]) // width
    return int(numpy.frombuffer(frame, numpy.uint8, offset=HEAD.size).reshape(height, width).mean())


def main(camera, last="500"):
    name, seen = f"camera-{os.getpid()}", 0
    with subprocess.Popen([camera, name, last], stdout=subprocess.PIPE) as child:
        # Then it listens.
        child.stdout.readline()
        # This program has started the camera, and trusts it: it reads what the camera could still write.
        with ysuite.LoanReceiver.connect(name, views=True) as frames:
            for frame in frames:
                # The camera may use the memory again as soon as this is over.
                with frame:
                    number, height, width = HEAD.unpack_from(frame)
                    light = brightness(frame, height, width)
                print(f"frame {number}: {height} x {width}, brightness {light}")
                seen += 1
    print(f"{seen} frames seen; the camera has closed")
    return child.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
