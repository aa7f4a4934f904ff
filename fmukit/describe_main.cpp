// Build-time program, one per FMU: writes the description of the FMU that it was linked with.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "fmukit/describe.hpp"

int main(int count, char** arguments) {
  using namespace entrain::fmukit;
  if (count != 3) {
    std::fprintf(stderr, "usage: %s VERSION FILE\n", arguments[0]);
    return 2;
  }
  try {
    std::ofstream file(arguments[2], std::ios::binary);
    file << describe(fmu_definition(), std::stoi(arguments[1])).xml;
    file.close();
    if (!file) throw std::runtime_error("it cannot be written");
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "%s: %s\n", arguments[2], exception.what());
    return 1;
  }
  return 0;
}
