#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fault_text.hpp"
#include "base/long_calls.hpp"
#include "base/looking.hpp"
#include "base/private_folder.hpp"
#include "entrain/error.hpp"
#include "worker/messages.hpp"
#include "worker/program.hpp"

namespace entrain::worker {

/// Whose calls a mailbox carries.
struct Caller {
  std::string subsystem;
  std::string code;  ///< "model 'ball.bounce'": what ends where no FMU is called
  Logging log{};
  std::optional<Duration> timeout{};  ///< s of wall clock time
};

/// A process that runs subsystems, and the way to it. It ends with this object, and never outlives this process; its
/// temporary files are removed with it. Calls of distinct subsystems may come from distinct threads.
class WorkerProcess {
 public:
  /// Throws Error{FileFailed} when it cannot be started.
  explicit WorkerProcess(const Confinement& confinement = {});
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const Confinement& confinement() const { return confinement_; }

  struct Made {
    MadeSubsystem subsystem;
    std::uint32_t number = 0;     ///< of its mailbox
    std::byte* memory = nullptr;  ///< the mailbox, with the numbers behind it; null = it was not made
  };
  Made make(const MakeRequest& request, const Caller& caller);
  /// Unloads a subsystem. Throws what happened there.
  void close(std::uint32_t number);
  /// A call has thrown because the process ended.
  bool has_reported_end();
  Parcel parcel(Mailbox& box) { return {memory_, page_.end, box}; }
  /// A use of what the worker can write at any time: it ends, by the same fault, where that cannot be used.
  template <class Function>
  void guarded(std::uint32_t number, Function&& use) {
    try {
      use();
      return;
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): whatever it was, this is why
    }
    refuse_answer(number);
  }
  /// Ends the worker, whose answer makes no sense. Throws Error.
  [[noreturn]] void refuse_answer(std::uint32_t number);

  /// Sent so far, of all subsystems.
  std::uint32_t calls() const { return page_.bell.load(std::memory_order_relaxed); }
  /// Sends the call in the mailbox.
  void post(Mailbox& box, Operation operation);
  /// Until it is answered. Throws Error when the process ended, or what the call threw.
  void wait(Mailbox& box, std::uint32_t number);

 private:
  struct Wait;
  void start();
  MakeRequest as_seen_there(MakeRequest request);
  SandboxFolders folders() const {
    return {folder_.content() / "own", folder_.content() / "scratch", confinement_.memory};
  }
  std::filesystem::path said() const { return folder_.content() / "said"; }
  std::optional<Error> sandbox_refusal() const;
  const Logging& log_of(std::uint32_t number);
  base::LongCall look(Wait& wait);
  void receive();
  void take_frames();
  std::size_t serving() const;
  Error damage_report(std::size_t number) const;
  void take_frame(Speech what, std::span<const std::byte> content);
  bool has_ended();
  void end();
  [[noreturn]] void fail(Error error);
  Error end_report() const;
  Error late_report(const Caller& caller, const Mailbox& box) const;
  Fact fault_in(base::Fault fault, const Caller& caller, const Mailbox& box) const;
  Error failure(Fact fact, base::Fault fault, const Caller& caller, const Mailbox& box) const;
  std::string remedy_here(const std::string& remedy) const;
  std::string function_in(const Mailbox& box) const;
  std::optional<Time> time_in(const Mailbox& box) const;

  /// Differs when another call is under way: of which subsystem, after how many exchanges with it and calls of foreign
  /// code.
  struct CurrentCall {
    std::size_t number = 0;
    std::uint32_t exchanges = 0;
    std::uint64_t calls = 0;

    bool operator==(const CurrentCall&) const = default;
  };

  Confinement confinement_;  ///< in shared memory the worker could change it
  base::PrivateFolder folder_;
  base::SharedMemory memory_;
  ProcessPage& page_;
  StartedProgram program_;
  base::Lookers lookers_{1};
  std::mutex making_;
  int unpacked_ = 0;            ///< FMUs, for a sandbox
  std::mutex mutex_;            ///< of all below
  std::deque<Caller> callers_;  ///< by number; the first is the one whose subsystem is being made
  std::deque<Mailbox*> boxes_;  ///< likewise
  base::CallTimer<CurrentCall> timer_;
  std::vector<std::byte> received_;       ///< of the socket, without the frames that were taken
  std::atomic<std::uint32_t> heard_ = 0;  ///< frames
  bool silent_ = false;                   ///< its socket has ended
  std::optional<int> status_;             ///< as waitpid returns it; -1 = another one waited for it
  std::optional<Error> fault_;            ///< its own report
  std::optional<Error> ended_;            ///< what every call throws from now on
  std::deque<std::string> last_words_;
};

}  // namespace entrain::worker
