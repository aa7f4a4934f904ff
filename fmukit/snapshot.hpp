#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "entrain/variable.hpp"

namespace entrain::fmukit {

/// Everything an instance remembers: what fmi2FMUstate and fmi3FMUState point to.
struct Snapshot {
  unsigned phase = 0;
  int ahead_degree = 0;
  Time stop = 0.0;
  std::vector<double> numbers;  ///< in the order of Instance::now_
  std::shared_ptr<const std::vector<Value>> parameters;
};

/// The snapshot as bytes of this machine's byte order, marked with `key`, the kind of FMU they belong to.
std::vector<std::uint8_t> to_bytes(const Snapshot& snapshot, std::uint64_t key);
/// Throws Error when the bytes were not made by to_bytes with this key, or are damaged in their lengths.
Snapshot from_bytes(std::span<const std::uint8_t> bytes, std::uint64_t key);

}  // namespace entrain::fmukit
