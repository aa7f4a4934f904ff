#pragma once

#include <sys/types.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.hpp"
#include "base/private_folder.hpp"

namespace entrain::sweeping {

/// Asks for a SweepLook; every other request is the number of a case.
inline constexpr std::size_t kLook = std::numeric_limits<std::size_t>::max();

/// What runs in a copy of this process.
class CaseServer {
 public:
  virtual ~CaseServer() = default;
  virtual base::Bytes answer(std::size_t request) = 0;
  /// Foreign code ends the process: the answer to the present request. On another thread than `answer`.
  virtual base::Bytes after_fault(const std::string& fault) = 0;
  /// After an answer: the process cannot give another one.
  virtual bool is_used_up() const = 0;
};

/// A copy of this process that answers requests one at a time, and whose end is no end of this one.
class CaseProcess {
 public:
  /// Forks. `at_once`: processes like it that work at the same time.
  explicit CaseProcess(CaseServer& server, std::size_t at_once = 1);
  ~CaseProcess();  ///< ends it
  CaseProcess(const CaseProcess&) = delete;
  CaseProcess& operator=(const CaseProcess&) = delete;

  void ask(std::size_t request);
  std::size_t asked() const { return asked_; }
  int descriptor() const { return descriptor_; }
  /// Once the descriptor can be read: whether there is an end, an answer or that of the process. Else it was about a
  /// call that takes long, which has been reported.
  bool receive();
  /// After that: the answer; nullopt when the process has ended without one.
  std::optional<base::Bytes> answer() { return std::move(answer_); }
  /// After an answer too: foreign code has ended it, or it is used up.
  bool has_ended() const { return ended_; }
  /// Of a process that ended without an answer: "signal 9 (Killed)".
  const std::string& how() const { return how_; }
  /// By another program, or because memory was short: the case itself need not be wrong.
  bool was_killed() const { return killed_; }

 private:
  void reap();

  base::PrivateFolder temporary_;  ///< TMPDIR of the process: what it leaves behind goes with this object
  pid_t process_ = -1;
  int descriptor_ = -1;
  std::size_t asked_ = 0;
  bool ended_ = false;
  bool killed_ = false;
  std::string how_;
  std::optional<base::Bytes> answer_;
};

}  // namespace entrain::sweeping
