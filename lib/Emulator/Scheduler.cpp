//===- Scheduler.cpp - which clusters of a launch run ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace blockscale::emu {

namespace {
constexpr auto kPauseOfIdle = std::chrono::microseconds(200);

uint64_t volume(const Dim3 &d) { return uint64_t(d.x) * d.y * d.z; }
Dim3 divide(const Dim3 &a, const Dim3 &b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
Dim3 unfold(uint64_t n, const Dim3 &of) {
  return {uint32_t(n % of.x), uint32_t(n / of.x % of.y), uint32_t(n / of.x / of.y)};
}
} // namespace

//===----------------------------------------------------------------------===//
// Order of starts
//===----------------------------------------------------------------------===//

ClusterSource::ClusterSource(const LaunchConfig &config, const Options &options)
    : size(config.cluster), tileSize(config.cluster) {
  if (volume(config.preferredCluster)) {
    tileSize = config.preferredCluster;
    splitAll = options.clusterChoice == ClusterChoice::fallback;
    mixed = options.clusterChoice == ClusterChoice::mixed;
    splitFirst = options.seed & 1;
  }
  tileGrid = divide(config.grid, tileSize);
  inTile = divide(tileSize, size);
  tiles = volume(tileGrid);
  parts = volume(inTile);
  uint64_t even = (tiles + 1) / 2, split = splitFirst ? even : tiles - even;
  clusters = mixed ? split * parts + (tiles - split) : splitAll ? tiles * parts : tiles;
  // A seed also turns the order of the tiles, without a table of them.
  rotation = options.seed ? (options.seed * 0x9E3779B97F4A7C15ull >> 32) % tiles : 0;
}

ClusterPlace ClusterSource::next() const {
  uint64_t n = (tile + rotation) % tiles;
  Dim3 at = unfold(n, tileGrid);
  ClusterPlace place;
  place.origin = {at.x * tileSize.x, at.y * tileSize.y, at.z * tileSize.z};
  place.size = tileSize;
  place.number = n * parts + part;
  if (isSplit(n)) {
    Dim3 in = unfold(part, inTile);
    place.origin = {place.origin.x + in.x * size.x, place.origin.y + in.y * size.y,
                    place.origin.z + in.z * size.z};
    place.size = size;
  }
  return place;
}

void ClusterSource::advance() {
  if (isSplit((tile + rotation) % tiles) && ++part < parts)
    return;
  part = 0;
  ++tile;
}

uint64_t ClusterSource::takeRest() {
  const uint64_t left = (tiles - tile) * (splitAll && !mixed ? parts : 1) - part;
  tile = tiles;
  part = 0;
  return left;
}

//===----------------------------------------------------------------------===//
// Residency
//===----------------------------------------------------------------------===//

Scheduler::Scheduler(Launch &owner)
    : launch(owner), source(owner.config, owner.options),
      ctasOfUnit(unsigned(volume(owner.config.cluster))), quick(owner, source.total()),
      rng(owner.options.seed * 0xD1B54A32D192ED03ull + 0x9E3779B97F4A7C15ull) {
  capacity = launch.options.residentClusters ? launch.options.residentClusters
                                             : residentClusters(launch, ctasOfUnit);
  start();
}

uint64_t Scheduler::units(const ClusterPlace &place) const {
  return volume(place.size) / ctasOfUnit;
}

/// Starts clusters while there is room; one always fits.
void Scheduler::start() {
  while (!source.done()) {
    ClusterPlace place = source.next();
    if (resident && resident + units(place) > capacity)
      return;
    resident += units(place);
    started.push_back(place);
    source.advance();
  }
}

Scheduler::~Scheduler() = default;

/// Of the clusters that come next, those that exit without a trace; they take no turn.
void Scheduler::passQuickExits() {
  uint64_t executed = 0, ended = 0;
  while (!started.empty() && begun < launch.failedAt && quick.ends(started.front(), executed)) {
    ++ended;
    resident -= units(started.front());
    started.pop_front();
    if (quick.isAlike()) {
      ended += started.size() + source.takeRest();
      for (const ClusterPlace &place : started)
        resident -= units(place);
      started.clear();
      executed *= ended;
      break;
    }
    start();
  }
  launch.instructions += executed;
  launch.changes += ended != 0;
}

bool Scheduler::cancel(const Cluster &caller, ClusterPlace &place) {
  std::lock_guard<std::mutex> guard(lock);
  if (source.done())
    return false;
  place = source.next();
  // Its caller can only do the work of a cluster of its own size.
  if (volume(place.size) != caller.ctas.size())
    return false;
  source.advance();
  return true;
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

std::unique_ptr<Cluster> Scheduler::takeParked(size_t i) {
  std::unique_ptr<Cluster> cluster = std::move(parked[i]);
  parked.erase(parked.begin() + long(i));
  return cluster;
}

/// The next cluster to run, under the lock; null at present when `over` is not set.
std::unique_ptr<Cluster> Scheduler::pick() {
  // After a failure only those that one thread would have run before go on.
  for (size_t i = parked.size(); i-- > 0;)
    if (parked[i]->stopped())
      parked.erase(parked.begin() + long(i));
  passQuickExits();
  bool canBegin = !started.empty() && !launch.spent() && begun < launch.failedAt;
  std::vector<size_t> ready; // something has changed since they last looked
  for (size_t i = 0; i < parked.size(); ++i)
    if (parked[i]->sawChanges != launch.changes)
      ready.push_back(i);
  bool shuffled = launch.kernel.talksThroughGlobal && launch.options.seed;
  if (canBegin && !ready.empty() && shuffled) {
    rng = rng * 6364136223846793005ull + 1442695040888963407ull;
    size_t choice = (rng >> 33) % (ready.size() + 1);
    if (choice < ready.size())
      return takeParked(ready[choice]);
  }
  if (canBegin) {
    ClusterPlace place = started.front();
    started.pop_front();
    return std::make_unique<Cluster>(launch, begun++, place);
  }
  if (!ready.empty())
    return takeParked(ready.front());
  if (running)
    return nullptr;
  // Nothing changes any more. Each that may still come to something by itself goes on.
  for (size_t i = 0; i < parked.size(); ++i)
    if (!parked[i]->repeatsItself())
      return takeParked(i);
  if (!parked.empty() && !launch.failed())
    reportStuck();
  over = true;
  return nullptr;
}

void Scheduler::reportStuck() {
  auto first = std::min_element(parked.begin(), parked.end(),
                                [](const auto &a, const auto &b) { return a->turn < b->turn; });
  if (launch.spent()) {
    launch.fail((*first)->turn, launch.kernel.line,
                "limit: kernel must end within " + dec(int64_t(launch.options.maxInstructions)) +
                    " thread instructions");
    return;
  }
  std::string others;
  if (parked.size() > 1)
    others = "; " + dec(int64_t(parked.size() - 1)) + " more resident clusters wait too";
  if (!source.done())
    others += "; further clusters cannot start, " + dec(int64_t(parked.size())) + " of " +
              dec(int64_t(total())) + " are resident";
  (*first)->reportStuck(others);
}

void Scheduler::work() {
  std::unique_lock<std::mutex> guard(lock);
  while (!over) {
    std::unique_ptr<Cluster> cluster = pick();
    if (!cluster) {
      if (!over)
        wake.wait_for(guard, kPauseOfIdle);
      continue;
    }
    ++running;
    guard.unlock();
    Cluster::Turn turn = cluster->run();
    if (turn == Cluster::Turn::ended)
      launch.clusterEnded(cluster->turn, cluster->executed, total());
    ClusterPlace place = cluster->place;
    if (turn != Cluster::Turn::waits)
      cluster.reset();
    guard.lock();
    --running;
    if (cluster) {
      parked.push_back(std::move(cluster));
    } else {
      ++launch.changes;
      resident -= units(place);
      start();
    }
    wake.notify_all();
  }
  wake.notify_all();
}

void Scheduler::run(unsigned threads) {
  // Clusters that talk through global memory take turns in one seeded order.
  if (launch.kernel.talksThroughGlobal)
    threads = 1;
  threads = unsigned(std::min<uint64_t>(std::max(1u, threads), total()));
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < threads; ++t)
    pool.emplace_back([this] { work(); });
  work();
  for (std::thread &t : pool)
    t.join();
}

} // namespace blockscale::emu
