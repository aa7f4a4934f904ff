#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "entrain/error.hpp"
#include "entrain/export.hpp"

namespace entrain {
namespace ranks {
class RankLink;
}

/// The processes that a launcher (mpirun, srun --mpi=pmix) started together, for one run (docs/clusters.md). Each runs
/// the same program on the same system; a subsystem is computed by one of them, and its results reach all.
class ENTRAIN_API Ranks {
 public:
  /// Whether a launcher started this process; nothing is loaded to find out.
  static bool launched();
  /// Loads MPI and meets the others. `interrupt`: set by a signal handler, may be null; borrowed. Throws
  /// Error{InvalidSystem} where MPI is missing or the others are another version.
  explicit Ranks(const std::atomic<bool>* interrupt);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const;
  int size() const;
  bool is_first() const { return rank() == 0; }

  /// Runs `work` here and, by the same call, everywhere. When it throws in some of them only, the others end with that
  /// error, which names the rank. Ends when all have ended, so that no process is ended by the launcher before its
  /// files are written.
  int take_part(const std::function<int()>& work);

  /// For the engine itself; no public header declares more.
  ranks::RankLink& link() { return *link_; }

 private:
  std::unique_ptr<ranks::RankLink> link_;
};

}  // namespace entrain
