#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "sweep/frame.hpp"
#include "sweep/prepared_sweep.hpp"

namespace entrain::sweeping {

/// What is asked of a host, and what it answers.
enum class HostWord : std::uint64_t {
  Look,   ///< answered by Found (a SweepLook) or Failed (an ErrorRecord)
  Begin,  ///< a SweepLook and the folder: from now on it makes cases
  Case,   ///< a number, answered by Ended (a CaseEnd)
  Found,
  Failed,
  Ended,
};

/// A copy of this process that makes cases in copies of its own, and never loads MPI: what is forked has nothing of MPI
/// in its memory, and a fork copies no page that a network card writes to (ADR 0090). Made before MPI is loaded.
class CaseHost {
 public:
  explicit CaseHost(PreparedSweep& sweep);  ///< forks
  ~CaseHost() { end(); }
  CaseHost(const CaseHost&) = delete;
  CaseHost& operator=(const CaseHost&) = delete;

  void send(HostWord word, const base::Bytes& bytes) const;
  /// The next answer; waits for it, `milliseconds` at most.
  std::optional<SocketFrame> receive(double milliseconds);
  /// Drops the cases that are under way.
  void end();
  /// By itself, or by `end`; then nothing is received any more.
  bool has_ended() const { return ended_; }

 private:
  pid_t process_ = -1;
  int socket_ = -1;
  bool ended_ = false;
};

}  // namespace entrain::sweeping
