// SPDX-License-Identifier: Apache-2.0
// apps/simulate: functions of SimGrid whose names differ between its versions 3.32 and 4.1.
#pragma once

#include <functional>
#include <string>

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

namespace rankloom::simgrid_api {

#if SIMGRID_VERSION >= 40000
constexpr const char* precision = "precision/timing:1e-9";
#else
constexpr const char* precision = "surf/precision:1e-9";
#endif

/// A zone whose hosts and links are added in its constructor. Before SimGrid 4.0, the first zone was the root of the
/// platform; now it is a child of a root that exists already.
class Zone : public simgrid::kernel::routing::NetZoneImpl {
 protected:
  explicit Zone(const std::string& name) : NetZoneImpl(name) {
#if SIMGRID_VERSION >= 40000
    set_parent(simgrid::s4u::Engine::get_instance()->get_netzone_root()->get_impl());
#endif
  }

  simgrid::s4u::Host* new_host(const std::string& name, double speed) {
#if SIMGRID_VERSION >= 40000
    return add_host(name, {speed});
#else
    return create_host(name, {speed});
#endif
  }

  simgrid::s4u::Link* new_link(const std::string& name, double rate) {
#if SIMGRID_VERSION >= 40000
    return add_link(name, {rate});
#else
    return create_link(name, {rate});
#endif
  }
};

inline void start_actor(const std::string& name, simgrid::s4u::Host* host, const std::function<void()>& code) {
#if SIMGRID_VERSION >= 40100
  host->add_actor(name, code);
#elif SIMGRID_VERSION >= 40000
  simgrid::s4u::Engine::get_instance()->add_actor(name, host, code);
#else
  simgrid::s4u::Actor::create(name, host, code);
#endif
}

}  // namespace rankloom::simgrid_api
