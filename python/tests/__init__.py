"""The other side of a test: a process in Python or in Rust. No test goes on for ever."""

import faulthandler
import os
import signal
import subprocess
import sys
import unittest

# A guard against hanging only.
LONG = 60.0
# The programs of `examples` in Rust.
EXAMPLES = os.environ.get("YSUITE_EXAMPLES", "")


class Test(unittest.TestCase):
    def setUp(self):
        faulthandler.dump_traceback_later(4 * LONG, exit=True)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)

    def name(self):
        return f"test-{os.getpid()}-{self.id()}"

    def python(self, program, *descriptors, **options):
        """A process that runs this program, which finds the descriptors as arguments. They are closed here."""
        command = [sys.executable, "-c", "import os, signal, sys, ysuite\n" + program, *map(str, descriptors)]
        child = subprocess.Popen(command, pass_fds=descriptors, **options)
        for descriptor in descriptors:
            os.close(descriptor)
        return self.end_of(child)

    def rust(self, name, *arguments):
        return self.end_of(subprocess.Popen([os.path.join(EXAMPLES, name), *arguments]))

    def end_of(self, child):
        def end():
            if child.poll() is None:
                child.kill()
            child.wait()
            if child.stdout:
                child.stdout.close()

        self.addCleanup(end)
        return child

    def assert_killed(self, child):
        self.assertEqual(child.wait(LONG), -signal.SIGKILL)


def descriptors():
    return len(os.listdir("/proc/self/fd"))
