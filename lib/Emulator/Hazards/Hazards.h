//===- Hazards.h - the hooks of the hazard checks -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One object a cluster, made unless the checks are off. Handlers call it where they
// touch memory or synchronise. It keeps, for groups of lanes that did the same, a
// clock of what they know (Clock.h), and a shadow of the memory (Shadow.h); an access
// is checked against the records of its bytes when it is issued.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_HAZARDS_HAZARDS_H
#define BLOCKSCALE_LIB_EMULATOR_HAZARDS_HAZARDS_H

#include "GlobalShadow.h"
#include "Knowledge.h"
#include "Rules.h"
#include "Shadow.h"

#include "../Machine.h"

#include <map>
#include <span>
#include <unordered_map>

namespace blockscale::emu {

/// Memory order of a synchronising instruction.
enum class Order : uint8_t { weak, relaxed, acquire, release, acquireRelease };
constexpr bool isAcquire(Order o) { return o == Order::acquire || o == Order::acquireRelease; }
constexpr bool isRelease(Order o) { return o == Order::release || o == Order::acquireRelease; }

enum class FenceKind : uint8_t {
  none,
  thread,
  threadWide,        // at gpu or sys scope
  proxyAsync,        // of all memory
  proxyAsyncGlobal,  // .global
  proxyAsyncCta,     // .shared::cta
  proxyAsyncCluster, // .shared::cluster
  mbarrierInit,
  tensormapRelease,
  tcgen05Before,
  tcgen05After
};

class LaunchHazards;

class Hazards {
public:
  explicit Hazards(Cluster &cluster);
  ~Hazards();

  // Asynchronous operations.
  void issued(AsyncOp &op, Warp &w, const Instruction &in);
  void lands(AsyncOp *op) { landing = op; }

  // mbarriers, by cluster address.
  void barrierInit(Warp &w, const Instruction &in, unsigned lane, uint64_t address);
  void barrierInval(Warp &w, const Instruction &in, unsigned lane, uint64_t address);
  void barrierArrive(Warp &w, const Instruction &in, unsigned lane, uint64_t address, Order order,
                     bool isCluster);
  void barrierUse(Warp &w, const Instruction &in, unsigned lane, uint64_t address);
  /// The state that an arrival returns, with the barrier and its open phase in it; and a wait by
  /// a state. MB3: it must be of the open phase of that barrier, or of the one before.
  uint64_t stampState(uint64_t word, uint64_t address) const;
  void stateAsked(const Warp &w, const Instruction &in, uint64_t address, uint64_t state);
  /// A wait that has seen its phase end, for lanes that wait for the same barrier; a weak one
  /// where nobody reads its result.
  void barrierWaited(Warp &w, const Instruction &in, uint32_t lanes, uint64_t address, Order order,
                     bool isCluster);
  /// Who took part in the phase before, but not in this one.
  std::string missingSignals(uint64_t address) const;
  void barrierSignalled(uint64_t address); // by the operation that lands
  void barrierPhaseEnded(uint64_t address);

  // Barriers and fences; lanes are those that execute.
  void namedArrive(Warp &w, unsigned id, bool waits);
  void namedEnd(Cta &cta, unsigned id);
  void warpSync(Warp &w);
  void clusterArrive(Warp &w, Order order);
  void clusterEnd();
  void clusterWait(Warp &w, Order order);
  void fence(Warp &w, FenceKind kind);

  // Ordinary accesses; addresses are those of the instruction's space.
  void access(Warp &w, const Instruction &in, Touch touch, Space space, uint64_t address,
              unsigned bytes, unsigned lane, Order order = Order::weak, bool isWide = false);
  /// Of a whole warp; `same` are lanes that store the value that was there.
  void accesses(Warp &w, const Instruction &in, Touch touch, Space space, const uint64_t *addresses,
                unsigned bytes, uint32_t same, Order order, bool isWide);
  /// Lanes' ordinary stores may be compared by their values with those of other clusters, which
  /// run in parallel.
  bool keepsValues() const { return ownShadow != nullptr; }
  /// Neighbouring elements of `bytes` bytes each. `same` says which are in memory already; comes
  /// back as this cluster alone knows it, where it has stored there.
  uint32_t stored(uint64_t address, unsigned bytes, unsigned count, const uint8_t *values,
                  uint32_t same);
  /// A store by `lanes` whose `lost` ones do not find their values in memory behind it, or would
  /// not; `what` names it.
  void lanesCollided(const Warp &w, const Instruction &in, const char *what, Space space,
                     const uint64_t *addresses, unsigned bytes, uint32_t lanes, uint32_t lost);

  // Tensor maps in memory.
  void mapReplaced(Warp &w, const Instruction &in, unsigned lane, Space space, uint64_t address);
  void mapCopied(Warp &w, const Instruction &in, uint64_t from, uint64_t to);
  void mapAcquired(Warp &w, uint32_t lanes, uint64_t address);

  // Groups of copies.
  void closeGroup(Warp &w, bool bulk);
  void waitGroup(Warp &w, unsigned kind, uint64_t left);

  /// wgmma.commit_group, and wait_group with the groups that may be open.
  void closeWgmma(Warp &w);
  void waitWgmma(Warp &w, uint64_t left);
  void fenceWgmma(Warp &w);
  /// wgmma.mma_async before it is issued: its registers and a number of its shape.
  void multiplies(Warp &w, const Instruction &in, std::span<const Operand> d,
                  std::span<const Operand> a, uint32_t shape);

  // Tensor memory.
  void tensorWait(Warp &w, bool stores);
  void allocated(Warp &w, const Instruction &in, uint64_t address, bool isPair);
  void freed(Warp &w, const Instruction &in, unsigned column, unsigned columns);
  /// The same by .cta_group::2, in each CTA of the pair; the second call ends it.
  void freedByPair(Warp &w, const Instruction &in, unsigned column, unsigned columns);
  void loaded(Warp &w, const Instruction &in, const std::vector<Operand> &registers);
  /// Registers that an instruction reads or writes, of a warp that is watched.
  void registers(Warp &w, const Instruction &in);

  /// query_cancel.get_first_ctaid of an answer that says no cluster was cancelled.
  void usedFailedAnswer(const Warp &w, const Instruction &in);

  /// An .aligned instruction whose lanes went different ways before.
  void metByChance(const Warp &w, const Instruction &in);

  /// Lanes exit; after them no thread of the CTA is left.
  void ended(Cta &cta);
  /// The cluster has come to its end.
  void finished();
  /// griddepcontrol.wait and .launch_dependents.
  void waitsForEarlierGrids(Warp &w);
  void launchesDependents(Warp &w);
  /// The last instruction that made or ended the mbarrier, for messages.
  Fault namingBarrier(Fault fault, uint64_t address) const;
  void exits(Warp &w, const Instruction &in, uint32_t lanes);

private:
  struct Group;
  struct WgmmaRegister;
  struct WarpState;
  struct Barrier;
  struct Signal;
  struct WgmmaState;
  struct Component;
  struct Actor;
  struct Conflict;
  struct GlobalConflict;
  class Issue;
  enum class Agent : uint8_t {
    thread,
    tensor1,
    tensor2,
    tmemLoad,
    tmemStore,
    bulkRead,
    bulkDone,
    copyAsync,
    wgmma,
    barrier
  };
  static constexpr unsigned kWarpAgents = unsigned(Agent::barrier);

  Cluster &cluster;
  const HazardOptions options;
  std::vector<std::unique_ptr<WarpState>> warps; // by rank and warp
  std::vector<Component> components;             // 0 is nobody
  std::vector<Cells> sharedCells;                // by rank
  std::vector<Cells> tensorCells;                // by rank; a cell's bytes are 32-lane quarters
  std::vector<Record> pairAllocs;                // by rank: the last tcgen05.alloc.cta_group::2
  std::vector<bool> pairFrees;                   // by pair: one of its CTAs has freed
  std::map<uint64_t, Barrier> barriers;          // by cluster address
  struct Named;
  std::vector<Named> named; // by rank, 16 each
  Knowledge clusterPending, clusterDone;
  struct Ending;
  std::vector<Ending> endings;                   // by rank
  std::unordered_map<uint64_t, Knowledge> flags; // released by stores and atomics, by address
  std::vector<uint32_t> barrierComponents;
  bool usesTensor = false; // some component is of tensor memory
  AsyncOp *landing = nullptr;
  std::vector<Conflict> conflicts; // of the access that is being checked
  std::vector<GlobalConflict> globalConflicts;
  LaunchHazards *together;                 // what all clusters check
  std::unique_ptr<GlobalShadow> ownShadow; // of global memory, where there is no common one
  GlobalShadow *shadow;
  Foreign visible; // to dependent grids from their start on
  struct Dependence {
    bool launches = false, waits = false;
  };
  std::vector<Dependence> dependence; // by rank
  bool sawRelaxedWait = false, sawRelaxedArrive = false;

  bool assumes(unsigned n) const {
    return options.mode != HazardMode::strict && options.assumes(n);
  }
  WarpState &stateOf(const Warp &w) const;
  uint32_t component(WarpState &s, Agent agent);
  Group &groupOf(WarpState &s, unsigned lane);
  template <class Fn> void eachGroup(WarpState &s, uint32_t lanes, Fn fn);
  void giveOwn(const WarpState &s, const Group &g, uint32_t lanes, Clock &into,
               bool onlyTensor = false) const;
  void giveIssued(const WarpState &s, uint32_t lanes, Clock &into) const;
  void publish(WarpState &s, const Group &g, uint32_t lanes, Knowledge &into, Order order);
  void joinTensor(Clock &into, const Clock &from) const;
  void learn(Group &g, const Knowledge &from, Order order);
  bool keepsWeak() const;
  void passFlag(WarpState &s, uint32_t lanes, uint64_t key, bool reads, bool writes);
  Barrier *barrierAt(uint64_t address);
  void copiesArrived(Barrier &b, uint64_t address);
  void reportScope(Warp &w, const Instruction &in, const Barrier &b, uint64_t address,
                   const char *what);

  WgmmaState &wgmmaOf(Warp &w);
  void watchWgmma(Warp &w, const Instruction &in);
  void reportWgmma(const Warp &w, uint32_t line, uint32_t otherLine, HazardLevel level,
                   const std::string &what, const char *missing);
  void reportUnwaited(const Warp &w, uint32_t line, const WgmmaRegister &r, const char *does,
                      HazardLevel level);

  Actor actor(Warp &w, const Instruction &in, unsigned lane, Touch touch);
  bool knows(const Actor &x, const Record &r, uint32_t bytes) const;
  bool weaklyKnows(const Actor &x, const Record &r, uint32_t bytes) const;
  void checkStarted(const Actor &x, uint32_t rank, uint32_t offset, unsigned bytes);
  bool isReadOfA(const Actor &x, const Record &r) const;
  bool isFenced(const Actor &x, const Record &r, uint32_t bytes, unsigned rank) const;
  void checkBarriers(Cta &cta);
  void touchShared(const Actor &x, Cta &cta, uint32_t offset, uint32_t bytes);
  bool needsFenceWithoutA7(const Actor &x, const Record &r) const;
  void checkShared(const Actor &x, const Cell &cell, uint32_t bytes, unsigned rank, uint32_t at);
  Rule sharedRule(const Actor &x, const Record &r, uint32_t bytes) const;
  void touchTensor(const Actor &x, Cta &cta, unsigned quarters, unsigned column, unsigned columns);
  void checkTensor(const Actor &x, const Cell &cell, unsigned quarters, unsigned rank,
                   unsigned column);
  static bool everyLaneWaited(const WarpState &s, const Record &r);
  bool isPipelined(const Actor &x, const Record &r, bool sameWarp) const;
  Rule tensorRule(const Actor &x, const Record &r) const;

  GlobalAccess globalAccess(const Actor &x, bool isWide) const;
  void checkEarlier(const Actor &x, const GlobalAccess &a, uint64_t address, uint64_t bytes);
  void touchGlobal(const Actor &x, const GlobalAccess &a, uint64_t address, uint64_t bytes);
  void checkGlobal(const Actor &x, const GlobalAccess &a, const GlobalAccess &earlier,
                   uint64_t cell, unsigned from, unsigned to);
  const char *mapMissing(const Actor &x, const GlobalAccess &a, const GlobalAccess &earlier,
                         const Record &r, uint64_t address) const;
  void checkMapOfLaunch(const Actor &x, uint64_t address);
  const Snapshot *foreignOf(const Actor &x, uint32_t turn) const;
  void addConflict(Rule rule, const GlobalAccess &other, uint64_t from, uint64_t to,
                   const char *missing);
  void flushGlobal(const Actor &x);
  ForeignPtr releasable(WarpState &s, const Group &g, uint32_t lanes);
  void absorb(Group &g, const ForeignPtr &from);
  void touchSharedAt(const Actor &x, Space space, uint64_t address, unsigned bytes);
  void strongAccess(Actor &x, Space space, uint64_t address, unsigned bytes, uint32_t lanes,
                    Order order, bool isWide);
  void wideFlag(WarpState &s, uint32_t lanes, uint64_t address, bool reads, bool writes,
                Order order);

  void conflict(Rule rule, HazardLevel level, const Record &r, bool isTensor, unsigned rank,
                uint32_t from, uint32_t to, const char *missing = nullptr);
  void flush(const Actor &x);
  bool showsStrict(Rule rule) const;
  /// `missing`, where this report knows better than its rule.
  void report(Rule rule, HazardLevel level, uint32_t line, uint32_t otherLine, std::string text,
              std::string_view missing = {});
  void report(Rule rule, uint32_t line, uint32_t otherLine, std::string text,
              std::string_view missing = {}) {
    report(rule, info(rule).level, line, otherLine, std::move(text), missing);
  }
  const char *verbOf(const Record &r) const;
  std::string nameOf(const Record &r) const;
  std::string ownerOf(const Record &r) const;
  std::string missing(Rule rule, const Record &r) const;
  std::string otherFence(const Actor &x, const Record &r) const;
  uint32_t lineOf(const Record &r) const;
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_HAZARDS_HAZARDS_H
