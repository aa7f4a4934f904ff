#pragma once

#include <cstddef>
#include <vector>

namespace entrain::learning {

/// A number that follows linearly from others: its factors.
using Row = std::vector<double>;

inline void add(Row& to, double factor, const Row& row) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * row[i];
}

}  // namespace entrain::learning
