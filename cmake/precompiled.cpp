// SPDX-License-Identifier: Apache-2.0
// build: gives the precompiled header a target to belong to.
