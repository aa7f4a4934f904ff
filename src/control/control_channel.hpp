#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "entrain/run_summary.hpp"
#include "run/control_hook.hpp"

namespace entrain::control {

/// What the channel needs of a run; called by the thread of the run, between two macro steps.
struct ControlledRun {
  std::vector<std::string> signals;  ///< all names, in the order of their indices
  std::size_t outputs = 0;           ///< the first of them: what is shown unless others are asked for
  std::function<void(std::string_view variable, const Value& value)> set;
  std::function<void(std::span<const std::size_t> signals, std::span<double> values)> read;
  std::function<const RunSummary&()> summary;
  std::function<bool()> interrupted;
};

/// The control channel of a run: a socket in its folder, served by a thread of its own (docs/real_time.md has the
/// protocol). Requests are parsed and answers written by that thread; the thread of the run looks at one flag between
/// macro steps, and does what is requested there.
class ControlChannel final : public running::ControlHook {
 public:
  /// Throws std::system_error when the socket cannot be made.
  ControlChannel(std::filesystem::path folder, ControlledRun run);
  /// Ends the channel, if `close` was not called.
  ~ControlChannel() override;
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  Outcome attend() override;
  /// The run has ended: the connections get a last line, and the socket is removed.
  void close(const RunSummary& summary);
  /// Of a process that ends without destructors.
  void leave_nothing_behind() const noexcept;
  /// It was stopped by a request.
  bool has_stopped_run() const { return stopped_; }

 private:
  enum class Command { Status, Pause, Resume, Step, Set, Stop };
  struct Request {
    std::uint64_t connection = 0;
    std::string id;  ///< as JSON text, as it came
    Command command = Command::Status;
    std::uint64_t steps = 1;
    std::string variable;
    Value value;
  };
  struct Reply {
    std::uint64_t connection = 0;
    std::string line;
  };
  class Server;

  void handle(const Request& request);
  void reply_state(const Request& request);
  void reply_refusal(const Request& request, const std::string& why);
  void fill_sample();
  void ring() const noexcept;

  std::filesystem::path folder_;
  ControlledRun run_;
  int bell_ = -1;  ///< an eventfd: the thread of the channel looks

  std::mutex mutex_;  ///< of all below
  std::condition_variable requested_;
  std::vector<Request> requests_;
  std::vector<Reply> replies_;
  bool paused_ = false;
  std::uint64_t steps_left_ = 0;
  std::optional<Request> stepping_;  ///< to be answered when the steps are made
  bool stopped_ = false;
  bool closing_ = false;
  std::string farewell_;  ///< the last line to all
  struct Sampling {
    enum class State { Idle, Wanted, Filled };
    State state = State::Idle;
    std::vector<std::size_t> signals;
    std::vector<double> values;
    Time time = 0.0;
  };
  Sampling sampling_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace entrain::control
