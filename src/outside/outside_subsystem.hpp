#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "entrain/subsystem.hpp"
#include "entrain/system_description.hpp"

namespace entrain::outside {

struct OutsideOptions {
  std::vector<Variable> inputs, outputs;
  Duration step = 0.0;
  Duration timeout = 1.0;  ///< wall clock s
  Duration wait = 0.1;     ///< wall clock s
  MissingOutputs missing = MissingOutputs::Hold;
  std::function<bool()> interrupted = {};  ///< asked while an answer is waited for; may be empty
};

/// A part outside as a subsystem: its step is imposed, and it cannot be taken back. The link is opened by `initialize`.
std::unique_ptr<Subsystem> make_outside_subsystem(std::string name, const OutsideDescription& description,
                                                  OutsideOptions options);

}  // namespace entrain::outside
