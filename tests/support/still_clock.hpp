#pragma once

#include <algorithm>
#include <cstdint>

#include "entrain/real_time.hpp"

namespace entrain::test {

/// Wall time that passes only by sleeping.
class StillClock final : public WallClock {
 public:
  std::int64_t now() noexcept override { return now_; }
  void sleep_until(std::int64_t instant) noexcept override { now_ = std::max(now_, instant); }

 private:
  std::int64_t now_ = 0;
};

}  // namespace entrain::test
