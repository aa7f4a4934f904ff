#pragma once

#include "analysis/advice.hpp"
#include "entrain/simulation.hpp"

namespace entrain {

/// A parameter whose limits are asked for.
struct ParameterQuestion {
  std::string name;           ///< "subsystem.parameter"
  std::optional<double> low;  ///< with `high`: where to search; else from a hundredth to a hundred times its value
  std::optional<double> high;
};

struct AdviceSettings {
  double tolerance = 1e-3;  ///< error that the recommended step is to keep, relative to the range of an output
  bool verify = false;      ///< run the best briefly
  bool search = false;      ///< sequences, gains, degrees and steps
  std::vector<std::string> gains = {};  ///< inputs that the search may give a gain; empty = all
  std::vector<ParameterQuestion> parameters = {};
  bool curves = false;  ///< and a heat map: for a page
  int threads = 1;      ///< of the search; the advice does not depend on them
};

/// Throws Error with every problem of the system, or for a parameter or an input that it does not have.
Advice advise(const SystemDescription& description, const AdviceSettings& settings = {},
              const Extensions& extensions = {});

/// The description with a method and a step of the advice in place of its own. Throws Error when there is none.
SystemDescription applied(const SystemDescription& description, const Advice& advice,
                          const Extensions& extensions = {});

}  // namespace entrain
