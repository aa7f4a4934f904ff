// Entry of libFuzzer; one program for each target, chosen when it is compiled.
#include <cstddef>
#include <cstdint>

#include "fuzz/targets.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto run = [] {
    for (const auto& target : entrain::fuzz::targets())
      if (target.name == ENTRAIN_FUZZ_TARGET) return target.run;
    __builtin_trap();
  }();
  run({reinterpret_cast<const char*>(data), size});
  return 0;
}
