# SPDX-License-Identifier: Apache-2.0
"""reproduce: what every experiment uses: kept steps, calls of the programs, tables, plots, verdicts, the page."""
