# SPDX-License-Identifier: Apache-2.0
"""reproduce: the experiments of four papers, repeated with the real program. `./dev reproduce list` says which."""
