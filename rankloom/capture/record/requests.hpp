// SPDX-License-Identifier: Apache-2.0
// capture/record: what persistent requests stand for: it is counted each time that they are started.
#pragma once

#include "rankloom/capture/record/counters.hpp"
#include "rankloom/capture/record/mpi.hpp"

namespace rankloom::record {

struct Kept;

/// Where this thread's counts go instead; nullptr: they are counted.
extern thread_local constinit Kept* keeping __attribute__((tls_model("initial-exec")));
void keep(Kept& kept, const Item& item);

/// From here on, what this thread counts is kept.
void begin_keeping();
/// Until here, where it becomes what the request stands for. 0: the call gave no request.
void end_keeping(Word request);
void start_request(Word request);
void forget_request(Word request);

}  // namespace rankloom::record
