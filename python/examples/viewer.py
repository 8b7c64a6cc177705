"""Shows what a camera in Rust films: frames of pixels, which come without a copy but that out of the channel.

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


def brightness(pixels, height, width):
    """Of one row, without numpy; of all, with it. The pixels are where `recv_into` has put them."""
    if numpy is None:
        return sum(pixels[:width]) // width
    return int(numpy.frombuffer(pixels, numpy.uint8).reshape(height, width).mean())


def main(camera, last="500"):
    name = f"camera-{os.getpid()}"
    # One buffer for all frames.
    frame = memoryview(bytearray(HEAD.size + 640 * 480))
    with ysuite.Listener(name) as listener:
        child = subprocess.Popen([camera, name, last])
        frames = listener.accept_receiver(60)
    seen = 0
    while True:
        try:
            length = frames.recv_into(frame)
        except ysuite.Closed:
            break
        number, height, width = HEAD.unpack_from(frame)
        light = brightness(frame[HEAD.size : length], height, width)
        print(f"frame {number}: {height} x {width}, brightness {light}")
        seen += 1
    print(f"{seen} frames seen; the camera has closed")
    return child.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
