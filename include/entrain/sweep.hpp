#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/extensions.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

/// How cases are taken from what varies (docs/sweeps.md).
enum class SweepSampling {
  Grid,            ///< all combinations
  List,            ///< rows of a CSV file
  LatinHypercube,  ///< each of `cases` equal parts of every distribution once
  Random,          ///< independent numbers
  Sobol,           ///< `cases` * (variations + 2): what Sobol indices need
};
ENTRAIN_API std::string_view to_string(SweepSampling sampling);

struct SweepOptions {
  SweepDescription sweep;                            ///< what the file and the command line say together
  std::optional<std::filesystem::path> folder = {};  ///< nullopt = the first free sweeps/NAME-N
  int jobs = 0;                                      ///< worker processes; 0 = one for each processor
  bool resume = false;                               ///< the folder contains this sweep: its cases are kept
  bool retry_failed = false;                         ///< with `resume`: but for those that are not completed
  std::size_t shard = 0, shards = 1;                 ///< only cases whose number is `shard` modulo `shards`
  bool estimate = true;                              ///< the errors of every case, and its grade
  bool courses = false;                              ///< keep the whole run of every case, in cases/N
  bool page = true;                                  ///< write sweep.html
  std::size_t most_cases = 10000;                    ///< more are refused
  /// Measured values, a CSV file: quantity, value, standard uncertainty.
  std::optional<std::filesystem::path> reference = {};
  const std::atomic<bool>* interrupt = nullptr;  ///< ends it; what is done is kept
  /// Called after each case; `seconds_left` is NaN as long as it is not known.
  std::function<void(std::size_t done, std::size_t all, double seconds_left)> progress = {};
};

/// What varies.
struct SweepInput {
  std::string name;
  std::string law;                 ///< as written; empty of a list
  std::vector<std::string> words;  ///< of values that are no numbers: a case has the index of its word
};

/// One row of the table.
struct SweepCase {
  std::size_t number = 0;
  std::vector<double> inputs;      ///< one per SweepInput
  std::vector<double> quantities;  ///< NaN where the case failed
  std::vector<double> errors;      ///< bounds of the estimated numerical error; NaN = not known
  std::string termination;         ///< as RunSummary::termination
  std::string grade;
  std::string message;  ///< of a case that failed
  double seconds = 0.0;
};

/// How much of the variance of a quantity an input explains, alone and with all others, with 95 % intervals.
struct SobolIndex {
  double first = 0.0, first_low = 0.0, first_high = 0.0;
  double total = 0.0, total_low = 0.0, total_high = 0.0;
};

/// Of a quantity over a sweep of input distributions, as standard uncertainties (ASME V&V 20, docs/sweeps.md). NaN is
/// what is not known.
struct QuantityUncertainty {
  double value = 0.0;      ///< mean of the cases
  double numerical = 0.0;  ///< estimated bounds / 1.15, root mean square
  double input = 0.0;      ///< standard deviation of the cases
  double data = 0.0;       ///< of the measured value
  double measured = 0.0;
  double together = 0.0;      ///< root of the sum of the squares; of `data` only where there is a measured value
  std::size_t cases = 0;      ///< that were completed
  std::size_t unchecked = 0;  ///< of these, without an estimate of the numerical error
};

/// Percentiles of a signal over the completed cases, at each of SweepResult::times; NaN where no case has a value.
struct SweepBand {
  std::string signal, unit;
  std::vector<double> p5, p25, p50, p75, p95;
};

/// A process of a launcher that took part in a sweep.
struct SweepRank {
  std::string host;
  std::size_t cases = 0;  ///< that it made
  double seconds = 0.0;   ///< of these, together
  std::string lost;       ///< why it was given up; empty of one that was there to the end
};

struct SweepResult {
  std::string system;
  std::filesystem::path folder;
  SweepSampling sampling = SweepSampling::Grid;
  std::vector<SweepInput> inputs;
  std::vector<std::string> quantities;  ///< columns
  std::vector<SweepCase> cases;         ///< that are done, by their number
  std::size_t all = 0;                  ///< cases of the whole sweep
  std::size_t part = 0;                 ///< of these, the ones to be made here: all, or those of the shard
  bool estimated = true;                ///< with errors and grades
  bool interrupted = false;
  std::vector<std::vector<SobolIndex>> sobol;    ///< by quantity, then by input; empty unless sampled for it
  std::vector<QuantityUncertainty> uncertainty;  ///< by quantity; empty of grids and lists
  std::vector<double> times;                     ///< s
  std::vector<SweepBand> bands;                  ///< of every signal that a quantity is taken of
  std::vector<SweepRank> ranks;                  ///< empty without a launcher
  /// What went into it: the system, every FMU and table, the cases, with their SHA-256.
  std::vector<std::pair<std::string, std::string>> hashes;
};

/// Runs all cases in worker processes of this program and leaves sweep.json, cases.csv, cases.h5 and sweep.html in the
/// folder. A case that fails, or takes its process along, is a row with its message. Forks: other threads of the
/// program do not exist in the workers. Throws Error with every problem of the sweep, and Error{FileFailed} for a fault
/// of the machine (a full disk, no memory), also in a case, which is no row then; rows that were written before are
/// kept.
ENTRAIN_API SweepResult sweep(const SystemDescription& description, const SweepOptions& options,
                              const Extensions& extensions = {});

/// Puts the shards of one sweep together, in `folder`. Throws Error{InvalidSystem} for those of another one
/// (sweep-other) and where cases are missing (sweep-shards-left). `reference` as in SweepOptions.
ENTRAIN_API SweepResult merge_sweeps(const std::vector<std::filesystem::path>& shards,
                                     const std::filesystem::path& folder,
                                     const std::optional<std::filesystem::path>& reference = {});

/// What `sweep` is called with.
struct SweepTask {
  SystemDescription description;
  SweepOptions options;
  Extensions extensions = {};
};

/// Under a launcher (Ranks::launched), by the same call in all its processes: one sweep by all of them. The first one
/// hands out the cases one by one, SweepOptions::jobs at a time to each process (0 = 1), and alone writes into the
/// folder. `prepare` is called in all of them, before MPI is loaded: processes of cases are copies of one that never
/// loads it. A process that ends is given up, and its cases are made by others, as far as the launcher lets these live.
/// Returns what `finish` does in the first process, and 0 in the others; the first one throws as `sweep` does, and
/// Error{InvalidSystem} where MPI is missing or the others would make another sweep.
ENTRAIN_API int sweep_on_ranks(const std::function<SweepTask()>& prepare,
                               const std::function<int(const SweepResult&)>& finish);

/// Everything of the result but its rows, as it stands in sweep.json.
ENTRAIN_API std::string sweep_json(const SweepResult& result);

/// The page: scatter, parallel coordinates, bands, failed cases, Sobol indices, uncertainty. Throws Error{FileFailed}.
ENTRAIN_API void write_sweep_page(const SweepResult& result, const std::filesystem::path& file);

}  // namespace entrain
