#!/usr/bin/env bash
# iceoryx2 0.10.0: a publisher whose process was killed is counted, and keeps its place, until a sweep.
#
# A subscriber is not told that its publisher died: a second after the kill `number_of_publishers` counts the dead one
# still, and in a service of one publisher a process that has its node already cannot take over. It gets
# `ExceedsMaxSupportedPublishers`, whose text does not name a dead process. Nothing but a sweep ends that. Sweeps are part of
# making and dropping a node and of opening a service, or are called by hand. So a supervisor that opens all it needs at its
# start, and lives on, waits for ever; once some process makes a node, it goes on at once. Seen with the wheel for Python
# on Linux:
#
#     received: 1
#     1 s after the kill: 1 publisher
#     another publisher: ExceedsMaxSupportedPublishers
#     after another node was made: 0 publishers
#     another publisher: created
#
# Fails if that changes. Needs Python 3 with pip and venv, on x86-64 Linux with glibc 2.34; installs below a temporary
# folder; iceoryx2 has its own files in /dev/shm and /tmp/iceoryx2.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check iceoryx2==0.10.0
cat >"$folder/finding.py" <<'PYTHON'
import ctypes
import os
import subprocess
import sys
import time

import iceoryx2 as iox2

iox2.set_log_level(iox2.LogLevel.Fatal)
is_child = len(sys.argv) > 1
name = iox2.ServiceName.new(f"finding/{os.getppid() if is_child else os.getpid()}")


def service():
    node = iox2.NodeBuilder.new().create(iox2.ServiceType.Ipc)
    return node, node.service_builder(name).publish_subscribe(ctypes.c_uint64).max_publishers(1).open_or_create()


def publisher(service):
    try:
        service.publisher_builder().create()
        return "created"
    except iox2.PublisherCreateError as error:
        return error


node, first = service()
if is_child:
    kept = first.publisher_builder().create()
    kept.send_copy(ctypes.c_uint64(1))
    print("sent", flush=True)
    time.sleep(60)
subscriber = first.subscriber_builder().create()
child = subprocess.Popen([sys.executable, __file__, "child"], stdout=subprocess.PIPE)
child.stdout.readline()
print("received:", subscriber.receive().payload().contents.value)
child.kill()
child.wait()
time.sleep(1)
print("1 s after the kill:", first.dynamic_config.number_of_publishers, "publisher")
print("another publisher:", publisher(first))
another = service()
print("after another node was made:", first.dynamic_config.number_of_publishers, "publishers")
print("another publisher:", publisher(first))
PYTHON
seen=$(timeout 60 "$folder/venv/bin/python" "$folder/finding.py")
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'EXPECTED'
received: 1
1 s after the kill: 1 publisher
another publisher: ExceedsMaxSupportedPublishers
after another node was made: 0 publishers
another publisher: created
EXPECTED
