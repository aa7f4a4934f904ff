#pragma once

#include <string>

namespace entrain::base {

/// A part of Entrain that is loaded when it is first needed, because what it is linked with takes long to load.
struct Plugin {
  void* entry = nullptr;  ///< its function of that name; null = there is none
  std::string why;        ///< then
};

/// Looks for the shared library beside this program or library, above it (a build tree with the tests below), or where
/// it is installed; first in `place` when that is given. What is loaded stays for the life of the process.
Plugin load_plugin(const std::string& library, const char* entry, const char* place = nullptr);

}  // namespace entrain::base
