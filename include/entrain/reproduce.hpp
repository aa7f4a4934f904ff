#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entrain/choices.hpp"
#include "entrain/export.hpp"

namespace entrain {

/// How a number that a paper prints is met.
enum class PrintedNumber {
  NotPrinted,     ///< the paper prints none for this quantity
  NotComparable,  ///< printed, but for a system or a machine that is not described; `reason` says what is missing
  NotMet,
  Met,     ///< within 5 %
  Beaten,  ///< an error or a number of steps that is smaller than printed, an order that is higher
};
template <>
struct ChoiceNames<PrintedNumber> {
  static constexpr std::array<ChoiceName<PrintedNumber>, 5> all{{{PrintedNumber::NotPrinted, "-"},
                                                                 {PrintedNumber::NotComparable, "not comparable"},
                                                                 {PrintedNumber::NotMet, "not met"},
                                                                 {PrintedNumber::Met, "met"},
                                                                 {PrintedNumber::Beaten, "beaten"}}};
};

/// What a row must come near to.
enum class ReproduceReference {
  Verified,  ///< of an independent implementation (docs/theory/reproduction.md), or exact
  Printed,   ///< the printed number itself
  Bound,     ///< not to be exceeded
  Ours,      ///< measured by this program before: it only shows changes
};
template <>
struct ChoiceNames<ReproduceReference> {
  static constexpr std::array<ChoiceName<ReproduceReference>, 4> all{{{ReproduceReference::Verified, "verified"},
                                                                      {ReproduceReference::Printed, "printed"},
                                                                      {ReproduceReference::Bound, "bound"},
                                                                      {ReproduceReference::Ours, "ours"}}};
};

/// One number: printed in a paper, verified independently, and measured now.
struct ReproduceRow {
  std::string quantity;
  std::optional<double> paper;
  std::string where;  ///< of the printed number: "table 4, MISSILES, 1e-3 s"; rows of one number have the same
  double reference = 0.0;
  ReproduceReference reference_is = ReproduceReference::Verified;
  double ours = 0.0;
  double tolerance = 0.0;  ///< relative to the reference
  std::string reason;      ///< why this tolerance
  bool ok = false;
  PrintedNumber printed = PrintedNumber::NotPrinted;
};

/// A time or a cost beside that of a paper: of another machine, so that it is neither met nor missed.
struct ReproduceMeasurement {
  std::string quantity;
  std::optional<double> paper;
  double ours = 0.0;
};

/// What is drawn of a curve.
enum class ReproduceMark {
  Ours,     ///< a line
  Points,   ///< dots: ours, where values between them mean nothing
  Printed,  ///< marks: numbers of the paper
  Guide,    ///< a dashed line: an order or a limit that the paper's text states
};
template <>
struct ChoiceNames<ReproduceMark> {
  static constexpr std::array<ChoiceName<ReproduceMark>, 4> all{{{ReproduceMark::Ours, "ours"},
                                                                 {ReproduceMark::Points, "points"},
                                                                 {ReproduceMark::Printed, "printed"},
                                                                 {ReproduceMark::Guide, "guide"}}};
};

struct ReproduceCurve {
  std::string name;
  ReproduceMark mark = ReproduceMark::Ours;
  std::vector<double> x, y;
};

struct ReproduceAxis {
  std::string title;
  bool logarithmic = false;
};

/// A figure of a paper, drawn anew.
struct ReproduceFigure {
  std::string title;  ///< "figure 10: ..."
  ReproduceAxis x, y;
  std::vector<ReproduceCurve> curves;
};

struct ENTRAIN_API ReproduceResult {
  std::string id;
  std::string title;
  std::vector<ReproduceRow> rows;
  std::vector<ReproduceMeasurement> measurements;
  std::vector<ReproduceFigure> figures;  ///< where they were asked for
  double seconds = 0.0;                  ///< that it took
  bool ok() const;
};

/// Printed numbers, each counted once: by the best of its rows.
struct PrintedCounts {
  std::size_t met = 0, beaten = 0, not_met = 0, not_comparable = 0;
  std::size_t numbers() const { return met + beaten + not_met + not_comparable; }
};
ENTRAIN_API PrintedCounts printed_counts(const std::vector<ReproduceResult>& results);

/// The FMUs of the models, in place of the models.
struct FmuSet {
  std::filesystem::path folder;  ///< empty = the models themselves
  /// By model exchange where it is offered (car.controller reads u' and does not), else by co-simulation.
  bool model_exchange = false;

  bool used() const { return !folder.empty(); }
};

/// A shipped system.
struct Example {
  std::filesystem::path file;
  FmuSet fmus;  ///< see Examples
};

/// The shipped systems; `examples / "mechanical"` is one of them.
struct Examples {
  std::filesystem::path folder;
  /// If given, every method but the reference runs on them instead of on the models.
  FmuSet fmus{};

  Example operator/(const std::string& name) const { return {folder / name, fmus}; }
};

/// Every reproducible table: id and title.
ENTRAIN_API std::vector<std::pair<std::string, std::string>> reproduce_entries();

/// What is made besides the rows.
struct ReproduceOptions {
  bool measurements = true;
  bool figures = false;
};

/// Runs one entry. Throws Error{InvalidSystem} for an unknown id, Error{FileFailed} when an FMU is missing.
ENTRAIN_API ReproduceResult reproduce(std::string_view id, const Examples& examples,
                                      const ReproduceOptions& options = {});

/// The results as JSON, figures left out. `models`: what was run, "native" or "fmu 2".
ENTRAIN_API std::string reproduce_json(const std::vector<ReproduceResult>& results, const std::string& models);
/// The list of what can be reproduced as JSON.
ENTRAIN_API std::string reproduce_json(const std::vector<std::pair<std::string, std::string>>& entries);

/// The results as HTML in one file: the figures of the papers with ours over them, and every row. Throws
/// Error{FileFailed}, also when reports are not included.
ENTRAIN_API void write_reproduction_page(const std::vector<ReproduceResult>& results, const std::string& models,
                                         const std::filesystem::path& file);

}  // namespace entrain
