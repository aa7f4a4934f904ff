#pragma once

#include <exception>

namespace entrain::fmukit {

/// Runs `call`; nothing it throws gets past here, and `report` is told why. True when all went well.
template <class Call, class Report>
bool completes(Call&& call, Report&& report) noexcept {
  try {
    call();
    return true;
  } catch (const std::exception& exception) {
    report(exception.what());
  } catch (...) {
    report("the model threw something that is not a std::exception");
  }
  return false;
}

}  // namespace entrain::fmukit
