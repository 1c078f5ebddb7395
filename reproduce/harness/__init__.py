# SPDX-License-Identifier: Apache-2.0
"""reproduce: shared code of the experiments: cached steps, program calls, tables, plots, verdicts, the page."""
