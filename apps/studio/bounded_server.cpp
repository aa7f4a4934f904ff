#include "studio/bounded_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

namespace entrain::studio {
namespace {

using Clock = std::chrono::steady_clock;

thread_local bool is_refusing = false;  // the task is to close its connection

/// One connection: reads until the deadline of the request, which grows with what has come.
class DeadlineStream final : public httplib::Stream {
 public:
  DeadlineStream(socket_t socket, const ServerLimits& limits)
      : socket_(socket), limits_(limits), begun_(Clock::now()) {}

  bool is_readable() const override { return has_buffered() || wait_for(POLLIN, deadline()); }
  bool is_writable() const override { return wait_for(POLLOUT, Clock::now() + limits_.patience); }

  ssize_t read(char* target, std::size_t size) override {
    if (!has_buffered() && !fill()) return -1;
    const std::size_t count = std::min(size, end_ - begin_);
    std::memcpy(target, buffer_.data() + begin_, count);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* bytes, std::size_t size) override {
    const auto until = Clock::now() + limits_.patience;
    std::size_t written = 0;
    while (written < size) {
      if (!wait_for(POLLOUT, until)) return -1;
      const auto count = ::send(socket_, bytes + written, size - written, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return -1;
      written += static_cast<std::size_t>(count);
    }
    return static_cast<ssize_t>(written);
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override { name_of(ip, port, ::getpeername); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { name_of(ip, port, ::getsockname); }
  socket_t socket() const override { return socket_; }

 private:
  bool has_buffered() const { return begin_ < end_; }

  Clock::time_point deadline() const {
    return begun_ + limits_.patience + std::chrono::milliseconds(1000 * received_ / limits_.slowest_rate);
  }

  bool wait_for(short event, Clock::time_point until) const {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return false;
      pollfd polled{socket_, event, 0};
      const int ready = ::poll(&polled, 1, static_cast<int>(left));
      if (ready < 0 && errno == EINTR) continue;
      return ready > 0;
    }
  }

  bool fill() {
    if (is_head_ && received_ > limits_.head_bytes) return false;
    for (;;) {
      if (!wait_for(POLLIN, deadline())) return false;
      const auto count = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return false;
      begin_ = 0;
      end_ = static_cast<std::size_t>(count);
      received_ += end_;
      if (is_head_) look_for_end_of_head();
      return true;
    }
  }

  /// An empty line, also across two reads.
  void look_for_end_of_head() {
    for (std::size_t i = 0; i < end_; ++i) {
      last_ = (last_ << 8U) | static_cast<unsigned char>(buffer_[i]);
      if (last_ == 0x0d0a0d0aU || (last_ & 0xffffU) == 0x0a0aU) is_head_ = false;
    }
  }

  template <class Function>
  void name_of(std::string& ip, int& port, Function function) const {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    if (function(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sin_family != AF_INET) return;
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    ip = text.data();
    port = ntohs(address.sin_port);
  }

  socket_t socket_;
  const ServerLimits& limits_;
  Clock::time_point begun_;
  std::size_t received_ = 0;
  bool is_head_ = true;
  std::uint32_t last_ = 0;
  std::array<char, 16384> buffer_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// As many threads as can be needed at once, and a queue that ends.
class BoundedPool final : public httplib::TaskQueue {
 public:
  explicit BoundedPool(const ServerLimits& limits) : waiting_(limits.waiting) {
    for (std::size_t i = 0; i < limits.streams + limits.request_threads; ++i) threads_.emplace_back([this] { work(); });
  }

  void enqueue(std::function<void()> task) override {
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.size() < waiting_) {
        tasks_.push_back(std::move(task));
        ready_.notify_one();
        return;
      }
    }
    is_refusing = true;
    task();
    is_refusing = false;
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    ready_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return is_ending_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  std::size_t waiting_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> tasks_;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

BoundedServer::BoundedServer(const ServerLimits& limits) : limits_(limits) {
  new_task_queue = [this] { return new BoundedPool(limits_); };
  set_payload_max_length(limits_.upload_bytes);
}

bool BoundedServer::process_and_close_socket(socket_t socket) {
  bool answered = false;
  if (!is_refusing) {
    DeadlineStream stream(socket, limits_);
    bool is_closed = false;
    answered = process_request(stream, true, is_closed, nullptr);
  }
  // A body that is not wanted is left unread; what is there already is taken, so that the answer is not lost with it.
  ::shutdown(socket, SHUT_WR);
  std::array<char, 65536> rest{};
  for (int i = 0; i < 16 && ::recv(socket, rest.data(), rest.size(), MSG_DONTWAIT) > 0; ++i) {
  }
  ::close(socket);
  return answered;
}

}  // namespace entrain::studio
