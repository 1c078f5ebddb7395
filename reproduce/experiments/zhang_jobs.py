# SPDX-License-Identifier: Apache-2.0
"""reproduce: zhang-jobs (Zhang 2014, Table 1, Figures 4 and 5): jobs beside other jobs, by sequential and by closed placement."""
