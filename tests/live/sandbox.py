"""Executes a program under the filter of system calls that a unit of systemd's describes: UNIT PROGRAM ARGUMENTS...

seccomp(2), systemd.exec(5). Ends with 77 where this host lacks what is needed to make the filter.
"""

import ctypes
import glob
import os
import re
import struct
import subprocess
import sys

PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO_EPERM = 0x7FFF0000, 0x00050001


def expand(words):
    calls = set()
    for word in words:
        if not word.startswith("@"):
            calls.add(word)
            continue
        shown = subprocess.run(["systemd-analyze", "syscall-filter", word], capture_output=True, text=True)
        lines = (line.strip() for line in shown.stdout.splitlines()[1:])
        calls |= expand([line for line in lines if line and not line.startswith("#")])
    return calls


def main():
    headers = glob.glob(f"/usr/include/{os.uname().machine}-linux-gnu/asm/unistd_64.h")
    if not headers:
        sys.exit(77)
    numbers = dict(re.findall(r"#define __NR_(\w+) (\d+)", open(headers[0]).read()))
    allowed, denied = [], []
    for line in re.findall(r"^SystemCallFilter=(.*)$", open(sys.argv[1]).read(), re.M):
        (denied if line.startswith("~") else allowed).extend(line.lstrip("~").split())
    calls = expand(allowed + ["@default"]) - expand(denied)
    steps = [(LOAD_NUMBER, 0, 0, 0)]
    for number in sorted(int(numbers[call]) for call in calls if call in numbers):
        steps += [(JUMP_IF_EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    steps.append((RETURN, 0, 0, ERRNO_EPERM))
    program = b"".join(struct.pack("HBBI", *step) for step in steps)

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]

    libc = ctypes.CDLL(None, use_errno=True)
    filters = Filter(len(steps), program)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filters), 0, 0) == 0, ctypes.get_errno()
    os.execv(sys.argv[2], sys.argv[2:])


main()
