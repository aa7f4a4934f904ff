#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/facts/error_record.hpp"
#include "entrain/error_estimate.hpp"
#include "entrain/simulation.hpp"
#include "entrain/sweep.hpp"
#include "entrain/verdict.hpp"
#include "sweep/case_process.hpp"
#include "sweep/quantities.hpp"
#include "sweep/sampling.hpp"

namespace entrain::sweeping {

/// What the first process finds out for all.
struct SweepLook {
  std::vector<Problem> problems;
  std::vector<std::pair<std::string, std::string>> quantities;  ///< names and expressions
  std::vector<std::pair<std::string, std::string>> signals;     ///< of the quantities, with their units
  std::string method;                                           ///< in the place of "auto"
  std::map<std::string, std::map<std::string, OptionValue>> options;
  std::optional<double> step;
  double start = 0.0, stop = 0.0;
  bool once_per_process = false;  ///< an FMU can be made once in a process

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(problems, quantities, signals, method, options, step, start, stop, once_per_process);
  }
};

/// What the process of a case answers.
struct CaseAnswer {
  SweepCase row;
  std::vector<double> course;  ///< QuantityObserver::courses; empty of a case that failed
  /// A fault of the machine (a full disk, no memory): nothing is known of the case, and others would fail as well.
  std::optional<base::ErrorRecord> machine_fault = {};

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(row.number, row.inputs, row.quantities, row.errors, row.termination, row.grade, row.message, row.seconds,
          course, machine_fault);
  }
};

/// What the runs of a sweep have in common. Borrowed.
struct CaseContext {
  const SystemDescription& description;
  const SweepPlan& plan;
  const SweepOptions& options;
  const Extensions& extensions;
  std::filesystem::path folder;  ///< absolute
  const std::vector<Quantity>& quantities;
  const std::vector<double>& times;  ///< of the courses; empty = none are kept
  bool once_per_process = false;     ///< each case needs a process of its own
};

/// The row of a case that has no values, but for its seconds.
SweepCase failed_case(const CaseContext& context, std::size_t number, const std::string& message);

/// Makes the runs, in a process of its own.
class CaseRunner final : public CaseServer {
 public:
  explicit CaseRunner(const CaseContext& context) : context_(context) {}
  base::Bytes answer(std::size_t request) override;
  base::Bytes after_fault(const std::string& fault) override;
  bool is_used_up() const override { return context_.once_per_process && number_ != kLook; }

 private:
  using Clock = std::chrono::steady_clock;

  SweepLook look();
  void check_inputs(Simulation& simulation, std::vector<Problem>& problems) const;
  CaseAnswer run(std::size_t number);
  CaseAnswer run_judged_case();
  CaseAnswer run_into_folder();
  CaseAnswer run_again();
  CaseAnswer run_anew();
  SystemDescription described() const;
  CaseAnswer answer_of(const RunSummary& summary, const QuantityObserver& observer) const;
  static void judge(CaseAnswer& answer, const QuantityObserver& observer, const ErrorEstimate& estimate,
                    const Verdict& verdict);
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  const CaseContext& context_;
  std::size_t number_ = kLook;
  Clock::time_point began_ = Clock::now();
  bool made_anew_ = false;  ///< no simulation serves for several cases
  std::unique_ptr<QuantityObserver> again_;
  std::optional<Simulation> simulation_;
};

}  // namespace entrain::sweeping
