#pragma once

#include <string>
#include <utility>
#include <vector>

#include "entrain/reproduce.hpp"

namespace entrain::reproducing {

/// A table or figure of a paper. Each function runs the shipped systems; the latter two may be null.
struct ReproduceEntry {
  std::string id;
  std::string title;
  std::vector<ReproduceRow> (*rows)(const Examples& examples);
  std::vector<ReproduceFigure> (*figures)(const Examples& examples) = nullptr;
  std::vector<ReproduceMeasurement> (*measurements)(const Examples& examples) = nullptr;
};

// One function per paper, or part of one, each in the file of its name.
std::vector<ReproduceEntry> missiles_entries();
std::vector<ReproduceEntry> costarica_entries();
std::vector<ReproduceEntry> costarica_coupled_entries();
std::vector<ReproduceEntry> f3ornits_entries();
std::vector<ReproduceEntry> quality_entries();
std::vector<ReproduceEntry> quality_run_entries();
std::vector<ReproduceEntry> learning_entries();

/// Which side of a number is better.
enum class Better { Neither, Smaller, Larger };

/// How near we must come to what, and why.
struct Tolerance {
  double relative;
  std::string reason;
  Better better = Better::Neither;  ///< than the reference is as good
  ReproduceReference against = ReproduceReference::Verified;
};

inline Tolerance bound(std::string reason, Better better = Better::Smaller) {
  return {0.0, std::move(reason), better, ReproduceReference::Bound};
}

/// A number of a paper, if it prints one.
struct Printed {
  std::optional<double> value;
  std::string where;  ///< see ReproduceRow
  Better better = Better::Neither;
  bool comparable = true;

  Printed() = default;
  Printed(std::nullopt_t) {}  // NOLINT(google-explicit-constructor): "nothing printed" where a number could stand
  Printed(double printed, std::string place, Better which = Better::Neither)
      : value(printed), where(std::move(place)), better(which) {}
};

/// Ok when ours lies within the tolerance of the reference, or on its better side.
ReproduceRow compared(std::string quantity, const Printed& paper, double reference, double ours,
                      const Tolerance& tolerance);

}  // namespace entrain::reproducing
