// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: persistent requests. Their messages and collectives are counted each time that the program
// starts the request, not when it creates the request.
#pragma once

#include "rankloom/capture/record/counting/counters.hpp"
#include "rankloom/capture/record/pmpi/pmpi.hpp"

namespace rankloom::record {

struct PersistentRequest;

/// The request that this thread creates: events are appended to it instead of being counted. nullptr: none.
extern thread_local constinit PersistentRequest* created_request __attribute__((tls_model("initial-exec")));
void append(PersistentRequest& request, const CountedEvent& event);

/// Before MPI_..._init: the events of this thread belong to the request until end_persistent_request.
void begin_persistent_request();
/// After MPI_..._init, with the new handle. 0: the call failed and returned no request.
void end_persistent_request(Word handle);
void start_request(Word handle);
void free_request(Word handle);

}  // namespace rankloom::record
