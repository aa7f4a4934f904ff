#include "studio/events.hpp"

namespace entrain::studio {

void EventQueue::add(std::string event) {
  {
    const std::lock_guard lock(mutex_);
    if (events_.size() >= kMostEvents) events_.pop_front();
    events_.push_back(std::move(event));
  }
  added_.notify_one();
}

std::optional<std::string> EventQueue::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  added_.wait_for(lock, patience, [this] { return ended_ || !events_.empty(); });
  if (ended_ || events_.empty()) return std::nullopt;
  auto event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void EventQueue::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  added_.notify_all();
}

bool EventQueue::has_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::shared_ptr<EventQueue> PageEvents::open(const std::string& page) {
  const std::lock_guard lock(mutex_);
  const auto known = pages_.find(page);
  if (ended_ || (known == pages_.end() && pages_.size() >= most_)) return nullptr;
  if (known != pages_.end()) known->second->end();
  return pages_[page] = std::make_shared<EventQueue>();
}

void PageEvents::close(const std::string& page, const std::shared_ptr<EventQueue>& queue) {
  const std::lock_guard lock(mutex_);
  const auto known = pages_.find(page);
  if (known != pages_.end() && known->second == queue) pages_.erase(known);
}

void PageEvents::send_all(const std::string& event) {
  const std::lock_guard lock(mutex_);
  for (const auto& [page, queue] : pages_) queue->add(event);
}

void PageEvents::send(const std::string& page, const std::string& event) {
  const std::lock_guard lock(mutex_);
  if (const auto known = pages_.find(page); known != pages_.end()) known->second->add(event);
}

bool PageEvents::has(const std::string& page) const {
  const std::lock_guard lock(mutex_);
  return pages_.contains(page);
}

void PageEvents::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const auto& [page, queue] : pages_) queue->end();
}

}  // namespace entrain::studio
