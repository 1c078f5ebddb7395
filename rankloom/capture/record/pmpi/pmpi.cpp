// SPDX-License-Identifier: Apache-2.0
// capture/record/pmpi: finds symbols of the MPI library that the program uses.
#include "rankloom/capture/record/pmpi/pmpi.hpp"

#include <cstring>

#include <dlfcn.h>
#include <link.h>

namespace rankloom::record {

namespace {

/// The MPI libraries that are loaded, including those loaded with RTLD_LOCAL, which dlsym(RTLD_DEFAULT) does not
/// search.
struct Libraries {
  const char* names[16];
  int count;
};

int collect(dl_phdr_info* object, std::size_t, void* data) {
  auto& libraries = *static_cast<Libraries*>(data);
  const char* const slash = std::strrchr(object->dlpi_name, '/');
  const char* const file = slash != nullptr ? slash + 1 : object->dlpi_name;
  constexpr int max_count = sizeof libraries.names / sizeof libraries.names[0];
  if (std::strncmp(file, "libmpi", 6) == 0 && libraries.count < max_count) {
    libraries.names[libraries.count++] = object->dlpi_name;
  }
  return 0;
}

}  // namespace

void* find_symbol(const char* name) {
  if (void* const address = ::dlsym(RTLD_DEFAULT, name)) return address;
  Libraries libraries{};
  ::dl_iterate_phdr(collect, &libraries);
  for (int at = 0; at < libraries.count; ++at) {
    void* const library = ::dlopen(libraries.names[at], RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const address = ::dlsym(library, name);
    ::dlclose(library);
    if (address != nullptr) return address;
  }
  return nullptr;
}

}  // namespace rankloom::record
