#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace entrain::studio {

/// What an open page is to be sent. One queue per page; one that is not read loses its oldest events.
class EventQueue {
 public:
  void add(std::string event);
  /// The next one; nullopt when none came in time or the queue ended.
  std::optional<std::string> next(std::chrono::milliseconds patience);
  void end();
  bool has_ended() const;

 private:
  static constexpr std::size_t kMostEvents = 1000;
  mutable std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::string> events_;
  bool ended_ = false;
};

/// The queues of all pages, each by the name that the page gave itself.
class PageEvents {
 public:
  explicit PageEvents(std::size_t most) : most_(most) {}

  /// nullptr when there are too many pages. A page that connects again takes over its name.
  std::shared_ptr<EventQueue> open(const std::string& page);
  void close(const std::string& page, const std::shared_ptr<EventQueue>& queue);
  void send_all(const std::string& event);
  void send(const std::string& page, const std::string& event);
  bool has(const std::string& page) const;
  void end();

 private:
  std::size_t most_;
  mutable std::mutex mutex_;
  bool ended_ = false;
  std::map<std::string, std::shared_ptr<EventQueue>> pages_;
};

}  // namespace entrain::studio
