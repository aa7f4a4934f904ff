#include "control/control_channel.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <list>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/signal_stack.hpp"
#include "base/suggest.hpp"
#include "control/control_socket.hpp"
#include "control/lines.hpp"
#include "entrain/control.hpp"

namespace entrain::control {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookPeriod{20};     // of a paused run, at a request to end
constexpr std::chrono::milliseconds kLongestWait{1000};  // an FMU may have closed the descriptor of the bell
constexpr std::size_t kMostConnections = 16;
constexpr std::size_t kMostUnsent = 1U << 20U;  // bytes: then samples are left out
constexpr double kShortestPeriod = 0.001;       // s, between two samples

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// As the request has it; null without.
Json id_of(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json::parse(text, nullptr, false);
}

std::string refusal_line(const std::string& id, const std::string& why) {
  return line_of({{"id", id_of(id)}, {"ok", false}, {"error", why}});
}

std::optional<Value> value_of(const Json& json) {
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_number()) return Value(json.get<double>());
  if (json.is_string()) return Value(json.get<std::string>());
  return std::nullopt;
}

bool is_same_user(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == ::geteuid() || peer.uid == 0);
}

}  // namespace

/// The thread of the channel: connections, lines, subscriptions.
class ControlChannel::Server {
 public:
  Server(ControlChannel& channel, int listening) : channel_(channel), listening_(listening) {}
  ~Server() {
    for (const auto& connection : connections_) ::close(connection.descriptor);
    if (listening_ >= 0) ::close(listening_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void work() {
    base::leave_signals_to_other_threads();
    for (;;) {
      wait();
      if (take_from_run()) return say_farewell();
      accept_new();
      for (auto& connection : connections_) {
        read(connection);
        write(connection);
      }
      connections_.remove_if([](const Connection& connection) {
        if (connection.is_gone) ::close(connection.descriptor);
        return connection.is_gone;
      });
    }
  }

 private:
  struct Connection {
    int descriptor = -1;
    std::uint64_t number = 0;
    LineBuffer incoming;
    std::string outgoing;
    bool is_gone = false;
    struct Subscription {
      std::vector<std::size_t> signals;
      Clock::duration every;
      Clock::time_point due;
      std::optional<Time> last;  ///< simulated time of the latest sample
    };
    std::optional<Subscription> subscription;
  };

  /// Until something happens, or a sample is due.
  void wait() {
    auto timeout = kLongestWait;
    for (const auto& connection : connections_) {
      if (!connection.subscription || sampled_for_) continue;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(connection.subscription->due - Clock::now());
      const auto wanted = std::max(left, std::chrono::milliseconds(0));
      timeout = std::min(timeout, wanted);
    }
    polled_.clear();
    polled_.push_back({is_deaf_ ? -1 : channel_.bell_, POLLIN, 0});
    polled_.push_back({is_deaf_ ? -1 : listening_, POLLIN, 0});
    for (const auto& connection : connections_) {
      const auto events = static_cast<short>(connection.outgoing.empty() ? POLLIN : POLLIN | POLLOUT);
      polled_.push_back({connection.descriptor, events, 0});
    }
    ::poll(polled_.data(), polled_.size(), static_cast<int>(timeout.count()));
    is_deaf_ = is_deaf_ || ((polled_[0].revents | polled_[1].revents) & POLLNVAL) != 0;
  }

  /// Answers and samples of the run, and the next sample that is due. True when the channel ends.
  bool take_from_run() {
    std::uint64_t rung = 0;
    while (!is_deaf_ && ::read(channel_.bell_, &rung, sizeof(rung)) > 0) {
    }
    const std::lock_guard lock(channel_.mutex_);
    for (auto& reply : channel_.replies_) {
      if (Connection* connection = find(reply.connection)) connection->outgoing += reply.line;
    }
    channel_.replies_.clear();
    auto& sampling = channel_.sampling_;
    if (sampling.state == Sampling::State::Filled) {
      send_sample(sampling);
      sampling.state = Sampling::State::Idle;
      sampled_for_.reset();
    }
    if (sampling.state == Sampling::State::Idle) ask_for_sample(sampling);
    return channel_.closing_;
  }

  void send_sample(const Sampling& sampling) {
    Connection* connection = find(*sampled_for_);
    if (connection == nullptr || !connection->subscription) return;
    auto& subscription = *connection->subscription;
    subscription.due = Clock::now() + subscription.every;
    if (subscription.last == sampling.time || connection->outgoing.size() > kMostUnsent) return;
    subscription.last = sampling.time;
    connection->outgoing += line_of({{"event", "sample"}, {"time", sampling.time}, {"values", sampling.values}});
  }

  void ask_for_sample(Sampling& sampling) {
    for (const auto& connection : connections_) {
      if (!connection.subscription || connection.subscription->due > Clock::now()) continue;
      sampling.signals = connection.subscription->signals;
      sampling.values.assign(sampling.signals.size(), 0.0);
      sampling.state = Sampling::State::Wanted;
      sampled_for_ = connection.number;
      channel_.call(true);
      channel_.requested_.notify_one();
      return;
    }
  }

  void accept_new() {
    if (is_deaf_) return;
    const int descriptor = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) return;
    if (connections_.size() >= kMostConnections || !is_same_user(descriptor)) {
      ::close(descriptor);
      return;
    }
    auto& connection = connections_.emplace_back();
    connection.descriptor = descriptor;
    connection.number = ++accepted_;
  }

  void read(Connection& connection) {
    char bytes[4096];
    for (;;) {
      const auto size = ::recv(connection.descriptor, bytes, sizeof(bytes), MSG_DONTWAIT);
      if (size < 0 && errno == EINTR) continue;
      if (size == 0 || (size < 0 && errno != EAGAIN)) connection.is_gone = true;
      if (size <= 0) return;
      connection.incoming.add({bytes, static_cast<std::size_t>(size)});
      while (const auto line = connection.incoming.take()) understand(connection, *line);
      if (connection.incoming.is_too_long()) connection.is_gone = true;
      if (connection.is_gone) return;
    }
  }

  static void write(Connection& connection) {
    while (!connection.outgoing.empty() && !connection.is_gone) {
      const auto size = ::send(connection.descriptor, connection.outgoing.data(), connection.outgoing.size(),
                               MSG_DONTWAIT | MSG_NOSIGNAL);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return;
      if (size < 0) connection.is_gone = true;
      if (size > 0) connection.outgoing.erase(0, static_cast<std::size_t>(size));
    }
  }

  void understand(Connection& connection, const std::string& line) {
    const Json json = Json::parse(line, nullptr, false);
    Request request;
    request.connection = connection.number;
    const auto refuse = [&](const std::string& why) { connection.outgoing += refusal_line(request.id, why); };
    if (!json.is_object()) return refuse("a request is a JSON object in one line");
    if (json.contains("id")) request.id = json["id"].dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto word = json.contains("command") && json["command"].is_string() ? json["command"].get<std::string>() : "";
    if (word == "subscribe") return subscribe(connection, json, request);
    if (word == "unsubscribe") {
      connection.subscription.reset();
      connection.outgoing += line_of({{"id", id_of(request.id)}, {"ok", true}});
      return;
    }
    static const std::vector<std::pair<std::string, Command>> kCommands{
        {"status", Command::Status}, {"pause", Command::Pause}, {"resume", Command::Resume},
        {"step", Command::Step},     {"set", Command::Set},     {"stop", Command::Stop}};
    const auto known =
        std::find_if(kCommands.begin(), kCommands.end(), [&](const auto& command) { return command.first == word; });
    if (known == kCommands.end()) {
      std::vector<std::string> words{"subscribe", "unsubscribe"};
      for (const auto& command : kCommands) words.push_back(command.first);
      return refuse(fmt::format("unknown command '{}'; {}", word, suggestion(word, words)));
    }
    request.command = known->second;
    if (const auto why = fill(request, json); !why.empty()) return refuse(why);
    pass_on(std::move(request));
  }

  /// What the command needs besides its name; what is wrong with it.
  static std::string fill(Request& request, const Json& json) {
    if (request.command == Command::Step && json.contains("steps")) {
      if (!json["steps"].is_number_unsigned() || json["steps"] == 0) return "steps is a positive integer";
      request.steps = json["steps"].get<std::uint64_t>();
    }
    if (request.command != Command::Set) return {};
    if (!json.contains("variable") || !json["variable"].is_string()) return "variable is missing";
    request.variable = json["variable"].get<std::string>();
    const auto value = json.contains("value") ? value_of(json["value"]) : std::nullopt;
    if (!value) return "value is a number, a boolean or a string";
    request.value = *value;
    return {};
  }

  void pass_on(Request request) {
    const std::lock_guard lock(channel_.mutex_);
    channel_.requests_.push_back(std::move(request));
    channel_.call(true);
    channel_.requested_.notify_one();
  }

  void subscribe(Connection& connection, const Json& json, const Request& request) {
    const auto refuse = [&](const std::string& why) { connection.outgoing += refusal_line(request.id, why); };
    double every = 0.1;
    if (json.contains("every")) {
      if (!json["every"].is_number() || !(json["every"].get<double>() >= 0.0)) return refuse("every is a time in s");
      every = json["every"].get<double>();
    }
    Connection::Subscription subscription;
    Json names = Json::array();
    const auto& all = channel_.run_.signals;
    if (!json.contains("signals")) {
      for (std::size_t i = 0; i < channel_.run_.outputs; ++i) subscription.signals.push_back(i);
    } else if (!json["signals"].is_array()) {
      return refuse("signals is a list of names");
    } else {
      for (const auto& name : json["signals"]) {
        const auto text = name.is_string() ? name.get<std::string>() : std::string();
        const auto found = std::find(all.begin(), all.end(), text);
        if (found == all.end()) return refuse(fmt::format("unknown signal '{}'; {}", text, suggestion(text, all)));
        subscription.signals.push_back(static_cast<std::size_t>(found - all.begin()));
      }
    }
    for (const auto index : subscription.signals) names.push_back(all[index]);
    const auto period = std::chrono::duration<double>(std::clamp(every, kShortestPeriod, 1e6));
    subscription.every = std::chrono::duration_cast<Clock::duration>(period);
    subscription.due = Clock::now();
    connection.subscription = std::move(subscription);
    connection.outgoing += line_of({{"id", id_of(request.id)}, {"ok", true}, {"signals", std::move(names)}});
  }

  /// The last line to all, as far as they take it at once.
  void say_farewell() {
    for (auto& connection : connections_) read(connection);  // requests that came too late
    const std::lock_guard lock(channel_.mutex_);
    for (const auto& request : std::exchange(channel_.requests_, {})) {
      if (Connection* connection = find(request.connection))
        connection->outgoing += refusal_line(request.id, "the run has ended");
    }
    for (auto& connection : connections_) {
      connection.outgoing += channel_.farewell_;
      write(connection);
    }
  }

  Connection* find(std::uint64_t number) {
    for (auto& connection : connections_) {
      if (connection.number == number) return &connection;
    }
    return nullptr;
  }

  ControlChannel& channel_;
  int listening_;
  std::list<Connection> connections_;
  std::uint64_t accepted_ = 0;
  std::optional<std::uint64_t> sampled_for_;  ///< the connection that the sample under way is for
  std::vector<pollfd> polled_;
  bool is_deaf_ = false;  ///< an FMU in this process closed all descriptors: the end of the run alone is noticed
};

ControlChannel::ControlChannel(std::filesystem::path folder, ControlledRun run)
    : folder_(std::move(folder)), run_(std::move(run)) {
  bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell_ < 0) throw std::system_error(errno, std::generic_category());
  const int listening = listen_in(folder_);
  if (listening < 0) {
    const int error = errno;
    ::close(bell_);
    throw std::system_error(error, std::generic_category());
  }
  server_ = std::make_unique<Server>(*this, listening);
  thread_ = std::thread([this] { server_->work(); });
}

ControlChannel::~ControlChannel() {
  if (thread_.joinable()) close({});
  server_.reset();
  ::close(bell_);
}

void ControlChannel::close(const RunSummary& summary) {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    if (stepping_) requests_.push_back(*std::exchange(stepping_, std::nullopt));
    for (const auto& request : requests_) {
      if (request.command == Command::Stop) {
        reply_state(request);
      } else {
        reply_refusal(request, "the run has ended");
      }
    }
    requests_.clear();
    closing_ = true;
    farewell_ = line_of({{"event", "ended"},
                         {"termination", std::string(to_string(summary.termination))},
                         {"time", summary.reached},
                         {"message", summary.message}});
  }
  ring();
  thread_.join();
  remove_socket(folder_);
}

void ControlChannel::leave_nothing_behind() const noexcept {
  remove_socket(folder_);
}

void ControlChannel::ring() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(bell_, &one, sizeof(one));
}

running::ControlHook::Outcome ControlChannel::attend() {
  std::unique_lock lock(mutex_);
  bool was_paused = false;
  const auto going_on = [&] { return was_paused ? Outcome::GoOnAfterPause : Outcome::GoOn; };
  for (;;) {
    if (stepping_ && steps_left_ == 0) {
      reply_state(*stepping_);
      stepping_.reset();
    }
    for (const auto& request : std::exchange(requests_, {})) handle(request);
    if (sampling_.state == Sampling::State::Wanted) fill_sample();
    if (stopped_) return Outcome::Stop;
    if (steps_left_ > 0) {
      --steps_left_;
      return going_on();
    }
    if (!paused_) {
      call(false);
      return going_on();
    }
    if (run_.interrupted()) return going_on();
    was_paused = true;
    requested_.wait_for(lock, kLookPeriod);
  }
}

void ControlChannel::fill_sample() {
  run_.read(sampling_.signals, sampling_.values);
  sampling_.time = run_.summary().reached;
  sampling_.state = Sampling::State::Filled;
  ring();
}

void ControlChannel::handle(const Request& request) {
  switch (request.command) {
    case Command::Status: break;
    case Command::Pause: paused_ = true; break;
    case Command::Resume: paused_ = false; break;
    case Command::Stop:
      stopped_ = true;
      requests_.push_back(request);  // answered when the run has ended
      return;
    case Command::Set: try { run_.set(request.variable, request.value);
      } catch (const std::exception& error) {
        return reply_refusal(request, error.what());
      }
      break;
    case Command::Step:
      if (!paused_) return reply_refusal(request, "the run is not paused");
      if (stepping_) return reply_refusal(request, "steps are being made");
      steps_left_ = request.steps;
      stepping_ = request;
      return;
  }
  reply_state(request);
}

void ControlChannel::reply_state(const Request& request) {
  const RunSummary& summary = run_.summary();
  replies_.push_back({request.connection, line_of({{"id", id_of(request.id)},
                                                   {"ok", true},
                                                   {"state", paused_ ? "paused" : "running"},
                                                   {"time", summary.reached},
                                                   {"stop", summary.stop},
                                                   {"macro_steps", summary.macro_steps}})});
  ring();
}

void ControlChannel::reply_refusal(const Request& request, const std::string& why) {
  replies_.push_back({request.connection, refusal_line(request.id, why)});
  ring();
}

}  // namespace entrain::control
