#include "advise/brief_check.hpp"

#include <algorithm>
#include <cmath>

#include "entrain/error.hpp"

namespace entrain::advising {

BriefCheck::BriefCheck(const SystemDescription& description, const Extensions& extensions,
                       std::map<std::string, double> ranges)
    : description_(description) {
  constexpr double kShare = 1.0 / 250.0;  // with half the steps besides, and methods that call more often, 2 %
  constexpr double kFewest = 8.0;         // macro steps
  constexpr double kMost = 256.0;
  const Duration step = description.step->value;
  const double steps = std::floor(kShare * (description.stop->value - description.start.value) / step);
  if (steps >= kFewest) runs_.emplace(description, extensions, step * std::min(steps, kMost), std::move(ranges));
}

Duration BriefCheck::length() const {
  return runs_ ? runs_->length() : 0.0;
}

/// The reference at half the step, the doubt what it changed.
bool BriefCheck::refine(const MethodConfig& config) {
  return runs_ && runs_->refine(config, 4.0 * description_.step->value);
}

std::optional<double> BriefCheck::error(const MethodConfig& config) {
  try {
    return refine(config) ? std::optional(runs_->doubt()) : std::nullopt;
  } catch (const Error&) {  // it cannot be made a second time, or half the step does not fit
    return std::nullopt;
  }
}

std::optional<bool> BriefCheck::agree(const MethodConfig& plain, const MethodConfig& other) {
  constexpr double kAsNear = 1.5;
  constexpr double kRounding = 1e-9;
  try {
    if (!refine(plain)) return std::nullopt;
    const auto found = runs_->error(other, description_.step->value);
    return found && found->error <= std::max(kRounding, kAsNear * runs_->doubt());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace entrain::advising
