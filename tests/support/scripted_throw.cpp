#include <cstddef>
#include <limits>
#include <stdexcept>

#include "scripted_fmu.h"

void throw_exception() {
  throw std::runtime_error("a C++ exception");
}

void exhaust_memory() {
  volatile std::size_t beyond = std::numeric_limits<std::size_t>::max() / 4;
  char* volatile taken = new char[beyond];
  delete[] taken;
}
