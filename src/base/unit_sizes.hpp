#pragma once

#include <algorithm>
#include <map>
#include <string>

namespace entrain {

/// How large the signals of each unit are, and so how small one of them may be before its own size is no measure of an
/// error: what moves so much less than others of its unit rests, and rounding moves it.
class UnitSizes {
 public:
  void take(const std::string& unit, double size) {
    if (unit.empty()) return;  // without a unit they may be anything
    auto& largest = largest_[unit];
    largest = std::max(largest, size);
  }
  double least(const std::string& unit) const {
    constexpr double kLeastShare = 1e-9;
    const auto found = largest_.find(unit);
    return found == largest_.end() ? 0.0 : kLeastShare * found->second;
  }

 private:
  std::map<std::string, double> largest_;
};

}  // namespace entrain
