#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

#include "scripted_fmu.h"

void throw_exception() {
  throw std::runtime_error("a C++ exception");
}

/// More text than anyone reads: 50 MB.
void throw_long_exception() {
  throw std::runtime_error(std::string(50'000'000, 'x'));
}

void exhaust_memory() {
  volatile std::size_t beyond = std::numeric_limits<std::size_t>::max() / 4;
  char* volatile taken = new char[beyond];
  delete[] taken;
}
