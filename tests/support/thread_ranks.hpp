#pragma once

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ranks/rank_link.hpp"

namespace entrain::test {

/// Ranks that are threads of this process.
class ThreadRanks {
 public:
  /// With shared memory of the node, or as ranks of several nodes exchange.
  explicit ThreadRanks(int size, bool may_share = true)
      : size_(size), may_share_(may_share), blocks_(static_cast<std::size_t>(size)) {}

  /// How often ranks have let MPI do what is under way.
  int progressed() const { return progressed_; }

  /// `work` for each rank on a thread of its own; what it throws is kept by rank.
  std::vector<std::exception_ptr> run(const std::function<void(ranks::RankLink&)>& work,
                                      const std::vector<const std::atomic<bool>*>& interrupts = {}) {
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size_));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size_; ++rank) {
      threads.emplace_back([&, rank] {
        const auto r = static_cast<std::size_t>(rank);
        try {
          ranks::RankLink link(std::make_unique<Member>(*this, rank), r < interrupts.size() ? interrupts[r] : nullptr,
                               may_share_);
          work(link);
          link.finish();
        } catch (...) {
          thrown[r] = std::current_exception();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    return thrown;
  }

 private:
  /// Blocks are there when every rank has brought one; the last one to take its copy clears them.
  class Member final : public ranks::Communicator {
   public:
    Member(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return all_.size_; }
    void gather(const std::byte* own, const int* counts, const int* places, std::byte* to) override {
      counts_ = counts;
      places_ = places;
      to_ = to;
      std::unique_lock lock(all_.mutex_);
      all_.cleared_.wait(lock, [&] { return all_.taken_ == 0; });
      all_.blocks_[static_cast<std::size_t>(rank_)].assign(own, own + counts[rank_]);
      ++all_.brought_;
    }
    bool poll() override {
      const std::lock_guard lock(all_.mutex_);
      if (all_.brought_ < all_.size_) return false;
      for (std::size_t r = 0; r < all_.blocks_.size(); ++r) {
        const auto& block = all_.blocks_[r];
        const auto room = static_cast<std::size_t>(counts_[r]);
        if (!block.empty()) std::memcpy(to_ + places_[r], block.data(), std::min(room, block.size()));
      }
      if (++all_.taken_ == all_.size_) {
        all_.taken_ = all_.brought_ = 0;
        all_.cleared_.notify_all();
      }
      return true;
    }
    void progress() override { ++all_.progressed_; }
    void send(int, std::span<const std::byte>) override {}
    std::optional<Message> receive() override { return std::nullopt; }
    void end() override {}

   private:
    ThreadRanks& all_;
    int rank_;
    const int* counts_ = nullptr;
    const int* places_ = nullptr;
    std::byte* to_ = nullptr;
  };

  int size_;
  bool may_share_;
  std::atomic<int> progressed_{0};
  std::mutex mutex_;
  std::condition_variable cleared_;
  std::vector<std::vector<std::byte>> blocks_;
  int brought_ = 0;
  int taken_ = 0;
};

}  // namespace entrain::test
