// What files of the readers refer to, and no target calls: the rest of the engine is not compiled for the fuzzers.
#include <cstdlib>

#include "entrain/entrain.hpp"
#include "entrain/results.hpp"
#include "entrain/system.hpp"

namespace entrain {

std::string_view version() noexcept {
  return ENTRAIN_VERSION;
}

Results read_results(const std::filesystem::path& /*path*/) {
  std::abort();
}

SystemDescription resolved(const SystemDescription& /*description*/, const Extensions& /*extensions*/) {
  std::abort();
}

}  // namespace entrain
