#!/usr/bin/env bash
# Wine 8.0 (Debian 12): FlushProcessWriteBuffers does nothing, and cannot say so.
#
# Windows documents the function as a barrier on every CPU that runs a thread of the process. Whoever calls it pays, so that
# the other side's fast path needs no fence. It returns nothing and sets no error, therefore a program has no reason to
# fall back. In this Wine it is a stub: it writes one line to a debug channel, which WINEDEBUG=-all turns off, and returns.
# The name of the system call that could make it real, `membarrier`, is nowhere in the library that has the stub. So
# nothing orders what a program leaves to this barrier. Seen on x86-64:
#
#     fixme:virtual:NtFlushProcessWriteBuffers stub
#     with WINEDEBUG=-all: nothing, exit code 0
#     membarrier in ntdll.so: 0
#
# Fails if that changes. Needs Debian 12 on x86-64, 1.5 GB of room; downloads 100 MB; installs and makes its Windows folder
# below a temporary folder; takes half a minute.
set -euo pipefail
folder=$(mktemp -d)
export WINEPREFIX=$folder/prefix WINEDLLOVERRIDES=mscoree,mshtml= DISPLAY=
export WINESERVER=$folder/usr/lib/wine/wineserver64 LD_LIBRARY_PATH=$folder/usr/lib/x86_64-linux-gnu
trap '"$WINESERVER" -k || true; rm -rf "$folder"' EXIT
(cd "$folder" && apt-get download -qq -o APT::Sandbox::User="$(id -un)" \
    wine64=8.0~repack-4 libwine=8.0~repack-4 libunwind8=1.6.2-3 libz-mingw-w64=1.2.13+dfsg-1)
for package in "$folder"/*.deb; do
    dpkg-deb -x "$package" "$folder"
done
mkdir -p "$WINEPREFIX/drive_c/windows/system32"
cp "$folder/usr/x86_64-w64-mingw32/lib/zlib1.dll" "$WINEPREFIX/drive_c/windows/system32"
# Rundll32 calls any exported function, with arguments that this one does not have.
flush() {
    WINEDEBUG=$1 timeout 120 "$folder/usr/lib/wine/wine64" rundll32 kernel32.dll,FlushProcessWriteBuffers 2>&1
}
WINEDEBUG=-all timeout 240 "$folder/usr/lib/wine/wine64" wineboot -i
loud=$(flush -all,fixme+virtual)
code=0
silent=$(flush -all) || code=$?
calls=$(grep -c membarrier "$folder/usr/lib/x86_64-linux-gnu/wine/x86_64-unix/ntdll.so") || true
seen=$(
    # Without the thread's number.
    printf '%s\n' "${loud#*:}"
    printf 'with WINEDEBUG=-all: %s, exit code %s\n' "${silent:-nothing}" "$code"
    printf 'membarrier in ntdll.so: %s\n' "$calls"
)
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'EXPECTED'
fixme:virtual:NtFlushProcessWriteBuffers stub
with WINEDEBUG=-all: nothing, exit code 0
membarrier in ntdll.so: 0
EXPECTED
