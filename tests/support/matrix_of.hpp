#pragma once

#include <utility>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::test {

/// Row by row.
inline Matrix matrix(std::size_t rows, std::size_t cols, std::vector<double> values) {
  Matrix result(rows, cols);
  result.values = std::move(values);
  return result;
}

}  // namespace entrain::test
