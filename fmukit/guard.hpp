#pragma once

#include <exception>
#include <string>

#include "entrain/error.hpp"

namespace entrain::fmukit {

/// Ends a call with an error and a sentence why.
[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(ErrorCode::SubsystemFailed, message);
}

/// Runs `call`; it catches every exception and passes the reason to `report`. Returns true when `call` did not throw.
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

/// For `guarded`: a member function of the instance is the whole of the call.
template <class Member, class... Arguments>
auto on_instance(Member member, Arguments... arguments) {
  return [=](auto& component) { (component.instance.*member)(arguments...); };
}

}  // namespace entrain::fmukit
