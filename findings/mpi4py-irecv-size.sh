#!/usr/bin/env bash
# mpi4py 4.1.2 (Python): `irecv()` takes no object whose pickle is longer than 32 KiB, and loses it.
#
# `isend` and `recv` take objects of any size. `irecv`, their counterpart that does not block, prepares a buffer before it
# knows what comes: 32,768 bytes where none is given, for the pickled form. A longer object raises MPI_ERR_TRUNCATE out of
# `wait`, in the receiver, and the message is gone; the sender's `wait` succeeds. So a program works until its data grow.
# The signature has `buf=None`, the method's own text names no limit; `irecv_bufsz` among the options of `mpi4py.rc` is
# where it stands. `irecv` with a buffer, and of a message that was matched by `mprobe`, take it. Seen with the wheel of
# MPICH 5.0.2 and CPython 3.11 on Linux, in one process:
#
#     32750 bytes: isend completed, recv 32750, irecv 32750
#     32751 bytes: isend completed, recv 32751, irecv MPI_ERR_TRUNCATE, left to receive: False
#     irecv with a buffer of 64 KiB: 32751
#     mprobe, then irecv: 32751
#
# Fails if that changes. Needs Python 3 with pip and venv, on x86-64 Linux; installs below a temporary folder.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check mpi4py==4.1.2 mpich==5.0.2
cat >"$folder/finding.py" <<'PYTHON'
from mpi4py import MPI

comm = MPI.COMM_SELF


def outcome(size, receive):
    request = comm.isend(bytes(size), dest=0)
    try:
        result = len(receive())
    except MPI.Exception as error:
        assert error.Get_error_class() == MPI.ERR_TRUNCATE
        result = "MPI_ERR_TRUNCATE"
    request.wait()
    return result


for size in (32750, 32751):
    blocking, nonblocking = outcome(size, comm.recv), outcome(size, lambda: comm.irecv().wait())
    left = "" if nonblocking == size else f", left to receive: {comm.iprobe()}"
    print(f"{size} bytes: isend completed, recv {blocking}, irecv {nonblocking}{left}")
print("irecv with a buffer of 64 KiB:", outcome(32751, lambda: comm.irecv(bytearray(65536)).wait()))
print("mprobe, then irecv:", outcome(32751, lambda: comm.mprobe().irecv().wait()))
PYTHON
seen=$(timeout 60 "$folder/venv/bin/python" "$folder/finding.py")
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'EXPECTED'
32750 bytes: isend completed, recv 32750, irecv 32750
32751 bytes: isend completed, recv 32751, irecv MPI_ERR_TRUNCATE, left to receive: False
irecv with a buffer of 64 KiB: 32751
mprobe, then irecv: 32751
EXPECTED
