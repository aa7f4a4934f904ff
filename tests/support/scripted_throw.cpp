#include <stdexcept>

#include "scripted_fmu.h"

void throw_exception() {
  throw std::runtime_error("a C++ exception");
}
