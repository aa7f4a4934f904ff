#include "base/memory_use.hpp"

#include <unistd.h>

#include <fstream>
#include <utility>

#include "entrain/fact_codes.hpp"
#include "entrain/watchdog.hpp"

namespace entrain {
namespace {

constinit thread_local std::size_t refused_bytes = 0;  // by the last request that failed, of this thread

}  // namespace

void note_refused_memory(std::size_t bytes) noexcept {
  refused_bytes = bytes;
}

}  // namespace entrain

namespace entrain::base {

Fact out_of_memory(std::string_view function) {
  Fact fact{FactCode::OutOfMemory};
  if (!function.empty()) fact.values.emplace_back("function", function);
  if (const auto requested = std::exchange(entrain::refused_bytes, 0); requested > 0)
    fact.values.emplace_back("requested", requested);
  if (const auto used = memory_in_use(); used > 0) fact.values.emplace_back("used", used);
  return fact;
}

std::uint64_t memory_in_use() {
  std::ifstream pages("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  pages >> all >> resident;
  return pages ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace entrain::base
