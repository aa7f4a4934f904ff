#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"

namespace entrain::ranks {

/// Processes that exchange bytes. One gathering at a time; nothing blocks but `send`.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The block of each process everywhere, at `places` in `all`; `counts` are the same in all processes. All three and
  /// the blocks stay as they are until `poll` returns true.
  virtual void gather(const std::byte* own, const int* counts, const int* places, std::byte* all) = 0;
  virtual bool poll() = 0;
  /// Time for what is under way: of a process that calls nothing else for a while.
  virtual void progress() = 0;
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  struct Message {
    int from = 0;
    base::Bytes bytes;
  };
  virtual std::optional<Message> receive() = 0;
  /// In order: all take part, and nothing is sent any more.
  virtual void end() = 0;
};

/// Whether a launcher of MPI started this process (mpirun, srun --mpi=pmix).
bool launched();
/// Processes that it started together; 1 without one.
int launched_size();
/// Loads the plug-in with MPI. Throws Error{InvalidSystem} (ranks-unavailable).
std::unique_ptr<Communicator> mpi_communicator();

}  // namespace entrain::ranks
