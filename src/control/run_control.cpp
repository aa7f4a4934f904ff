#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "control/control_socket.hpp"
#include "control/lines.hpp"
#include "entrain/control.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

using Json = nlohmann::ordered_json;

struct ValueText {
  Json operator()(const Binary&) const { return nullptr; }
  template <class T>
  Json operator()(const T& value) const {
    return value;
  }
};

}  // namespace

struct RunControl::Impl {
  explicit Impl(const std::filesystem::path& of) : folder(of.string()), descriptor(control::connect_to(of)) {
    if (descriptor >= 0) return;
    const bool not_there = errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR;
    unreachable(not_there ? "no run goes on there" : std::strerror(errno));
  }
  ~Impl() {
    if (descriptor >= 0) ::close(descriptor);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[noreturn]] void unreachable(const std::string& why) const {
    throw Error(ErrorCode::FileFailed, {FactCode::ControlNotReached, {folder}, {{"why", why}}});
  }

  void send(std::string line) const {
    line += '\n';
    std::string_view left = line;
    while (!left.empty()) {
      const auto size = ::send(descriptor, left.data(), left.size(), MSG_NOSIGNAL);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) unreachable("the run has ended");
      left.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  /// Whether something to receive comes while `waiting` has patience; true without it.
  bool await(const std::function<bool()>& waiting) {
    constexpr int kPeriod = 100;  // ms
    while (waiting && !lines.has_line()) {
      pollfd polled{descriptor, POLLIN, 0};
      if (::poll(&polled, 1, kPeriod) > 0) return true;
      if (!waiting()) return false;
    }
    return true;
  }

  std::string receive() {
    for (;;) {
      if (auto line = lines.take()) return std::move(*line);
      char bytes[4096];
      const auto size = ::recv(descriptor, bytes, sizeof(bytes), 0);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) unreachable("the run has ended");
      lines.add({bytes, static_cast<std::size_t>(size)});
    }
  }

  /// The answer to this request; events before it are passed over.
  Json ask(Json request) {
    const std::string command = request["command"];
    request["id"] = ++requests;
    send(request.dump());
    for (;;) {
      const Json answer = Json::parse(receive(), nullptr, false);
      if (!answer.is_object() || !answer.contains("ok") || answer.value("id", Json()) != requests) {
        if (answer.is_object() && answer.value("event", "") == "ended") unreachable("the run has ended");
        continue;
      }
      if (answer["ok"] == true) return answer;
      throw Error(ErrorCode::InvalidSystem,
                  {FactCode::ControlRefused, {}, {{"command", command}, {"why", answer.value("error", "")}}});
    }
  }

  ControlledState ask_state(Json request) {
    const Json answer = ask(std::move(request));
    return {answer.value("state", ""), answer.value("time", 0.0), answer.value("stop", 0.0),
            answer.value("macro_steps", std::uint64_t{0})};
  }

  std::string folder;
  int descriptor;
  control::LineBuffer lines;
  std::uint64_t requests = 0;
};

RunControl::RunControl(const std::filesystem::path& folder) : impl_(std::make_unique<Impl>(folder)) {}
RunControl::~RunControl() = default;
RunControl::RunControl(RunControl&&) noexcept = default;
RunControl& RunControl::operator=(RunControl&&) noexcept = default;

ControlledState RunControl::status() {
  return impl_->ask_state({{"command", "status"}});
}
ControlledState RunControl::pause() {
  return impl_->ask_state({{"command", "pause"}});
}
ControlledState RunControl::resume() {
  return impl_->ask_state({{"command", "resume"}});
}
ControlledState RunControl::step(std::uint64_t steps) {
  return impl_->ask_state({{"command", "step"}, {"steps", steps}});
}
ControlledState RunControl::set(std::string_view variable, const Value& value) {
  return impl_->ask_state(
      {{"command", "set"}, {"variable", std::string(variable)}, {"value", std::visit(ValueText(), value)}});
}
void RunControl::stop() {
  impl_->ask({{"command", "stop"}});
}

bool RunControl::subscribe(const std::vector<std::string>& signals, Duration every,
                           const std::function<bool(const ControlledSample&)>& take,
                           const std::function<bool()>& waiting) {
  Json request{{"command", "subscribe"}, {"every", every}};
  if (!signals.empty()) request["signals"] = signals;
  impl_->ask(std::move(request));
  for (;;) {
    if (!impl_->await(waiting)) {
      impl_->ask({{"command", "unsubscribe"}});
      return true;
    }
    const Json line = Json::parse(impl_->receive(), nullptr, false);
    if (!line.is_object()) continue;
    const std::string event = line.value("event", "");
    if (event == "ended") return false;
    if (event != "sample") continue;
    ControlledSample sample;
    sample.time = line.value("time", 0.0);
    for (const auto& value : line["values"]) {
      sample.values.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
    }
    if (take(sample)) continue;
    impl_->ask({{"command", "unsubscribe"}});
    return true;
  }
}

std::string RunControl::request(std::string_view line) {
  impl_->send(std::string(line));
  return impl_->receive();
}

}  // namespace entrain
