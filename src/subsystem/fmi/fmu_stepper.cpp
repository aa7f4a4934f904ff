#include "subsystem/fmi/fmu_stepper.hpp"

#include "entrain/fact_codes.hpp"

namespace entrain::subsystem {

void FmuReporter::require_despite(const FmuResult& result, Time t) {
  if (result.status == FmuStatus::Warning) return note_warning(result, t);
  failed_ = true;
  require_done(result, log_, context(t));
}

void FmuReporter::note_warning(const FmuResult& result, Time t) {
  if (warnings_++ > 0) return;
  first_warning_ = {FactCode::FmuReturnedWarning,
                    {subsystem_},
                    {{"function", result.function}, {"first", t, "s"}, {"message", log_.take_text()}}};
}

std::optional<Fact> FmuReporter::warning() const {
  auto fact = first_warning_;
  if (fact) fact->values.emplace_back("times", warnings_);
  return fact;
}

}  // namespace entrain::subsystem
