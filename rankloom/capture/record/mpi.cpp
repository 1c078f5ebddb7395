// SPDX-License-Identifier: Apache-2.0
// capture/record: the MPI of the program, found when it is needed.
#include "rankloom/capture/record/mpi.hpp"

#include <cstring>

#include <dlfcn.h>
#include <link.h>

namespace rankloom::record {

namespace {

/// The libraries of an MPI that are loaded, also those that were loaded for somebody else's eyes only.
struct Libraries {
  const char* names[16];
  int count;
};

int collect(dl_phdr_info* object, std::size_t, void* data) {
  auto& libraries = *static_cast<Libraries*>(data);
  const char* const slash = std::strrchr(object->dlpi_name, '/');
  const char* const file = slash != nullptr ? slash + 1 : object->dlpi_name;
  constexpr int most = sizeof libraries.names / sizeof libraries.names[0];
  if (std::strncmp(file, "libmpi", 6) == 0 && libraries.count < most) {
    libraries.names[libraries.count++] = object->dlpi_name;
  }
  return 0;
}

}  // namespace

void* find_symbol(const char* name) {
  if (void* const found = ::dlsym(RTLD_DEFAULT, name)) return found;
  Libraries libraries{};
  ::dl_iterate_phdr(collect, &libraries);
  for (int at = 0; at < libraries.count; ++at) {
    void* const library = ::dlopen(libraries.names[at], RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const found = ::dlsym(library, name);
    ::dlclose(library);
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace rankloom::record
