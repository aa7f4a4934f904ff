#pragma once

#include <string>

#include "entrain/subsystem.hpp"

namespace entrain::subsystem {

/// A subsystem whose steps and outputs come from calls of foreign code: names them, for messages.
class ForeignCalls {
 public:
  /// "FMU 'prey.fmu': fmi2DoStep returned fmi2Discard": of the last step that was rejected.
  virtual std::string refusal() const = 0;
  /// "FMU 'prey.fmu', by fmi2GetReal": the source of an output.
  virtual std::string reading(std::size_t output) const = 0;

 protected:
  ~ForeignCalls() = default;
};

/// Empty of a subsystem without foreign code.
inline std::string refusal_of(const Subsystem& subsystem) {
  const auto* calls = dynamic_cast<const ForeignCalls*>(&subsystem);
  return calls != nullptr ? calls->refusal() : std::string();
}
inline std::string reading_of(const Subsystem& subsystem, std::size_t output) {
  const auto* calls = dynamic_cast<const ForeignCalls*>(&subsystem);
  return calls != nullptr ? calls->reading(output) : std::string();
}

}  // namespace entrain::subsystem
