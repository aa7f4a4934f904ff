#pragma once

#include <array>
#include <cstdint>

#include "entrain/options.hpp"

namespace entrain {

/// How exponentials of matrices are found.
enum class LaplaceInversion { Exact, GaverStehfest };
template <>
struct ChoiceNames<LaplaceInversion> {
  static constexpr std::array<ChoiceName<LaplaceInversion>, 2> all{
      {{LaplaceInversion::Exact, "exact"}, {LaplaceInversion::GaverStehfest, "gaver-stehfest"}}};
};

/// How the part of the outputs that the linearization leaves goes on.
enum class OutputControl : std::uint8_t { Hold, First, Flexible };
template <>
struct ChoiceNames<OutputControl> {
  static constexpr std::array<ChoiceName<OutputControl>, 3> all{
      {{OutputControl::Hold, "hold"}, {OutputControl::First, "first"}, {OutputControl::Flexible, "flexible"}}};
};

/// When a new linearization is requested.
enum class LinearizationRenewal : std::uint8_t { EveryStep, WhenNeeded, Once };
template <>
struct ChoiceNames<LinearizationRenewal> {
  static constexpr std::array<ChoiceName<LinearizationRenewal>, 3> all{
      {{LinearizationRenewal::EveryStep, "every-step"},
       {LinearizationRenewal::WhenNeeded, "when-needed"},
       {LinearizationRenewal::Once, "once"}}};
};

/// How steps are estimated; the methods that estimate share these options.
struct EstimatorOptions {
  LaplaceInversion laplace = LaplaceInversion::Exact;
  int stehfest_terms = 14;
  OutputControl control = OutputControl::Flexible;
  int reconstruction = 0;
  LinearizationRenewal linearize = LinearizationRenewal::EveryStep;
  double linearization_tolerance = 1e-6;

  void bind(OptionBinder& binder);
  /// What limits cannot express; `method` is for the messages.
  void check(std::string_view method, const WrittenOptions& written, std::vector<Problem>& problems) const;
};

}  // namespace entrain
