#pragma once

#include <string>

#include "entrain/options.hpp"

namespace entrain {

/// How steps are estimated; the methods that estimate share these options.
struct EstimatorOptions {
  std::string laplace = "exact";
  int stehfest_terms = 14;
  std::string control = "flexible";
  int reconstruction = 0;
  std::string linearize = "every-step";
  double urgency = 1e-6;

  void bind(OptionBinder& binder);
  /// What limits cannot say; `method` is for the messages.
  void check(std::string_view method, const WrittenOptions& written, std::vector<Problem>& problems) const;
};

}  // namespace entrain
