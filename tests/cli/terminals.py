# SPDX-License-Identifier: Apache-2.0
"""Whether this machine has pseudo-terminals: some containers do not."""

import os
import pty


def available():
    try:
        master, slave = pty.openpty()
    except OSError:
        return False
    os.close(master)
    os.close(slave)
    return True


WHY_NOT = "there are no pseudo-terminals (mount devpts on /dev/pts)"
