#include "subsystem/fmi/fmu_stepper.hpp"

#include <fmt/format.h>

namespace entrain {

void FmuReporter::require_despite(const FmuResult& result, Time t) {
  if (result.status == FmuStatus::Warning) return note_warning(result, t);
  failed_ = true;
  require_done(result, log_, context(t));
}

void FmuReporter::note_warning(const FmuResult& result, Time t) {
  if (warnings_++ > 0) return;
  first_warning_ = fmt::format("from {} at t = {} s{}", result.function, t, log_.take_text());
}

std::string FmuReporter::warning() const {
  if (warnings_ == 0) return {};
  return fmt::format("'{}' returned a warning {} times, first {}", subsystem_, warnings_, first_warning_);
}

}  // namespace entrain
