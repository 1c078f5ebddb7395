# SPDX-License-Identifier: Apache-2.0
"""reproduce: the experiments of four papers, repeated with the rankloom program. `./dev reproduce list` lists them."""
