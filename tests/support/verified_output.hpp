#pragma once

#include <limits>
#include <stdexcept>
#include <string>

#include "entrain/verification.hpp"

namespace entrain::test {

constexpr double kAnyError = std::numeric_limits<double>::infinity();

inline const OutputVerification& output(const Verification& of, const std::string& name) {
  for (const auto& entry : of.outputs) {
    if (entry.name == name) return entry;
  }
  throw std::runtime_error("no output " + name);
}

}  // namespace entrain::test
