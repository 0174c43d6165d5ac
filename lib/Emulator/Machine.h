//===- Machine.h - warps, CTAs and clusters -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state that instructions work on. A warp holds its 32 lanes as vectors and
// one or more fragments: sets of lanes at a common program counter. The fragment
// with the lowest counter that can run goes first, fragments that meet merge, and
// instructions that need several lanes together wait until they have met.
//
// Everything asynchronous is an AsyncOp in its cluster: it is queued when issued
// and changes bytes when the cluster lets it land.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_MACHINE_H
#define BLOCKSCALE_LIB_EMULATOR_MACHINE_H

#include "Addresses.h"
#include "CallStack.h"
#include "Fault.h"
#include "GlobalMemory.h"
#include "Hazards/Access.h"
#include "Program.h"
#include "Text.h"
#include "Tmem.h"

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <type_traits>

namespace blockscale::emu {

class Warp;
class Cta;
class Cluster;
class Scheduler;
class Hazards;
class LaunchHazards;
struct AsyncTrace;

/// A report of the hazard checks, without its place.
struct HazardFinding {
  std::string label;
  HazardLevel level;
  uint32_t line, otherLine;
  uint64_t turn; // of the cluster
  std::string text;
};

inline constexpr uint64_t kNoFailure = ~uint64_t(0);

/// One launch: what all clusters share.
struct Launch {
  Launch(const LoadedModule &module, const Kernel &kernel, const LaunchConfig &config,
         const Options &options, GlobalMemory &memory)
      : module(module), kernel(kernel), config(config), options(options), memory(memory) {}
  const LoadedModule &module;
  const Kernel &kernel;
  const LaunchConfig &config;
  const Options &options;
  GlobalMemory &memory;
  std::vector<uint8_t> params;
  uint64_t sharedBytes = 0; // of one CTA, from address 0, the reserved part included
  unsigned threadsPerCta = 0, warpsPerCta = 0;
  unsigned tmemColumns = 0;
  unsigned sms = 1;

  // Clusters are numbered in the order in which one thread would run them. The failure
  // of the lowest number is the launch's, so that it does not depend on the threads.
  std::atomic<uint64_t> failedAt{kNoFailure};
  std::atomic<uint64_t> instructions{0}, mmas{0};
  std::mutex lock;                    // error, evidence, flops, and the next two
  std::map<uint64_t, uint64_t> ended; // instructions of clusters behind a gap in the order
  uint64_t endedInOrder = 0, instructionsInOrder = 0;
  std::string error;
  std::vector<std::string> evidence;
  double mmaFlops = 0;
  std::vector<HazardFinding> hazards;             // one for a label and a pair of lines
  std::shared_ptr<LaunchHazards> hazardsTogether; // null: not checked

  bool failed() const { return failedAt != kNoFailure; }
  void fail(uint64_t turn, uint32_t line, const Fault &fault);
  /// Of a report: where its lines come from, by .loc.
  std::string sourceLines(uint32_t line, uint32_t otherLine) const;
  /// A cluster has come to its end; refuses the launch beyond its instruction limit.
  void clusterEnded(uint64_t turn, uint64_t executed, uint64_t clusters);
  /// Further clusters could only run beyond the instruction limit.
  bool spent() const { return options.maxInstructions && instructions > options.maxInstructions; }
  /// Counts rounds of any cluster that changed something, and clusters that ended.
  std::atomic<uint64_t> changes{0};
  Scheduler *scheduler = nullptr;

  void addEvidence(const std::string &label);
  void addHazard(HazardFinding finding);
  /// Reports of a level, in the order of the lines, each "file:line: …".
  std::vector<std::string> hazardTexts(bool errors) const;
};

/// Where a cluster lies in the grid.
struct ClusterPlace {
  Dim3 origin, size;   // in CTAs
  uint64_t number = 0; // in the grid, in linear order
};

/// What a fragment waits for.
struct Wait {
  enum class Kind : uint8_t {
    none,
    converge,
    mbarrier,
    named,
    cluster,
    copyGroup,
    bulkGroup,
    bulkRead,
    wgmmaGroup,
    tmemLoad,
    tmemStore,
    loadResult,
    registers, // that operations in flight write
    tmemAlloc
  };
  Kind kind = Kind::none;
  bool advance = false; // on wake go to the next instruction; else execute again
  uint64_t a = 0, b = 0;
  bool operator==(const Wait &) const = default;
};

inline constexpr uint64_t kNoArrival = ~uint64_t(0);

struct Fragment {
  uint32_t pc = 0, mask = 0;
  Wait wait;
  bool yielded = false;
  bool expired = false; // the time limit of its try_wait has ended
  bool operator==(const Fragment &) const = default;
};

/// Something in flight.
class AsyncOp {
public:
  enum class Pipe : uint8_t { free, tensor, tmemLdSt, mmaRead };
  AsyncOp();
  virtual ~AsyncOp();

  Warp *warp = nullptr;
  Pipe pipe = Pipe::free; // of the others: operations of one warp land in issue order
  uint32_t lanes = 0;     // of the issuing warp
  uint32_t line = 0;
  uint64_t id = 0;
  std::unique_ptr<AsyncTrace> trace; // of the hazard checks
  uint32_t arriving = 0;             // of the lanes that signal one by one, the one that does now
  bool isBehindEarlier = false;      // issued behind a griddepcontrol.wait; of the hazard checks

  /// Changes bytes. True: finished; false: a further stage is left.
  virtual bool land() = 0;
  /// May land now, apart from pipe order?
  virtual bool ready() const { return true; }
  /// Would its landing help this fragment of that warp to go on?
  virtual bool helps(const Warp &waiter, const Fragment &fragment) const = 0;
  /// Non-null when it must not be in flight at exit: what must hold.
  virtual const char *leakAtExit() const { return nullptr; }
  virtual bool touchesTmem() const { return false; }
  /// For the hazard checks, at issue: what it is, what it touches and which mbarriers
  /// (cluster addresses) it signals.
  virtual OpKind kind() const { return OpKind::other; }
  virtual unsigned ctaGroup() const { return 1; }
  /// A commit that tells only that the A operands of earlier MMAs were read from shared
  /// memory (.sync_restrict::shared::read::mma::a): nothing of B, scales or D.
  virtual bool isRestricted() const { return false; }
  virtual void describe(AccessSink &) const {}
  virtual std::vector<uint64_t> signals() const { return {}; }
  /// Does it read or write this CTA's memory?
  virtual bool touches(const Cta &cta) const;
  /// What it is, for messages.
  virtual const char *what() const = 0;
};

class Warp {
public:
  // The hot part: read by every handler.
  uint8_t *base[2]; // registers, constants
  uint32_t *preds;
  uint32_t mask = 0; // lanes that execute the current instruction
  uint32_t live = 0; // lanes that have not exited
  Cta *cta = nullptr;
  const Kernel *kernel = nullptr;
  Launch *launch = nullptr;
  Hazards *hazards = nullptr; // null: not checked
  bool apart = false;         // lanes went different ways and did not wait for each other since
  bool watched = false;       // the checks watch the registers of tcgen05.ld or wgmma
  GlobalRange cache;          // the allocation last used
  std::vector<Fragment> fragments;
  uint32_t current = 0; // index of the running fragment
  uint32_t limit = ~0u; // lowest counter of another fragment above the current one
  unsigned id = 0;
  uint32_t full = 0;     // lanes that exist
  uint64_t executed = 0; // thread instructions
  std::vector<uint8_t> local;
  uint64_t localStride = 0;
  std::unique_ptr<CallStack> calls; // once a function that calls itself is called

  // Asynchronous bookkeeping.
  unsigned pendingLoads = 0, pendingStores = 0;                       // tcgen05.ld, tcgen05.st
  std::vector<std::pair<uint64_t, std::vector<Operand>>> loadTargets; // of tcgen05.ld in flight
  uint32_t copyGroup[32] = {}, bulkGroup[32] = {};                    // open group of each lane
  uint32_t wgmmaGroup = 0;                                            // the open group
  uint64_t clusterPhase[32]; // of an arrival not waited for
  uint32_t clusterLine = 0;  // of the last arrival
  uint32_t raisedAt = 0;     // line of the last setmaxnreg.inc

  Warp(Cta &cta, unsigned id);

  template <typename T> T *reg(Operand o) const {
    return reinterpret_cast<T *>(base[o >> 31] + (o & ~kConstantBit));
  }
  /// The same for loops over all lanes: it starts a cache line.
  template <typename T> T *lanes(Operand o) const {
    return static_cast<T *>(__builtin_assume_aligned(reg<T>(o), alignof(LaneLine)));
  }
  bool predicate(Operand o, unsigned lane) const { return preds[o] >> lane & 1; }
  Fragment &fragment() { return fragments[current]; }

  Outcome fail(const Instruction &in, const Fault &fault);
  void fail(uint32_t line, const Fault &fault);
  Outcome block(Wait::Kind kind, bool advance = false, uint64_t a = 0, uint64_t b = 0);
  /// Runs until the warp blocks, yields, exits or used its budget.
  /// Returns false when it made no step.
  bool run(unsigned budget);
  bool done() const { return live == 0; }
  /// A fragment can run now.
  bool runnable();
  bool canProceed(const Fragment &f) const;
  void exitLanes(uint32_t lanes);
  /// Keeps the state that decides what the warp does next, and whether it is back.
  void remember();
  bool isAsRemembered();
  void branch(uint32_t taken, uint32_t target);
  void setPreset(const Preset &p);
  uint32_t lineOf(const Fragment &f) const { return kernel->code[f.pc].line; }
  /// Operand of a uniform instruction: the value of the first executing lane.
  template <typename T> T uniform(Operand o) const { return reg<T>(o)[__builtin_ctz(mask)]; }
  unsigned leader() const { return unsigned(__builtin_ctz(mask)); }

  // Memory. Null: the access was refused and the launch has failed.
  enum class Access : uint8_t { read, write };
  uint8_t *resolve(const Instruction &in, Space space, uint64_t address, unsigned bytes,
                   unsigned lane, Access access = Access::read);
  uint8_t *resolveShared(const Instruction &in, uint64_t address, unsigned bytes,
                         Cta **owner = nullptr);
  uint8_t *resolveGlobal(const Instruction &in, uint64_t address, unsigned bytes,
                         Access access = Access::read);

private:
  std::vector<LaneLine> file;
  std::vector<uint32_t> predFile;
  struct Memory {
    std::vector<LaneLine> file;
    std::vector<uint8_t> local;
    std::vector<uint32_t> predFile;
    std::vector<Fragment> fragments;
    std::unique_ptr<CallStack> calls;
    bool returned = false;
  };
  std::unique_ptr<Memory> memory;
  bool select();
  bool canBegin(const Instruction &in, Fragment &f);
  Outcome runOn(unsigned &budget);
  bool touchesPendingLoad(const Instruction &in) const;
  uint32_t required(const Instruction &in, const Fragment &f) const;
};

/// A warp at a tensor-memory management instruction of a CTA pair.
struct PairCall {
  enum class Kind : uint8_t { alloc, dealloc, relinquish };
  const Warp *warp = nullptr; // null: no warp is at one
  Kind kind = Kind::alloc;
  bool exclusive = false, isDone = false;
  unsigned columns = 0, column = 0;
  uint32_t line = 0;
};

struct NamedBarrier {
  uint32_t arrived = 0, expected = 0; // threads
  uint32_t line = 0;                  // of the last arrival
  uint64_t generation = 0;
  /// Predicates of barrier.red, of the open generation and the one before.
  struct Votes {
    uint64_t generation = ~uint64_t(0);
    uint32_t yes = 0, total = 0;
  };
  Votes votes[2];
};

/// Bytes of an operand, of each CTA of a pair, when its collector buffer was filled.
struct CollectorContents {
  uint32_t line = 0; // of the fill
  std::vector<uint8_t> bytes[2];
};
/// What a collector buffer of the tensor core holds.
struct Collector {
  const Warp *warp = nullptr; // that filled it; null: empty
  uint64_t operand = 0;       // descriptor or tensor memory address
  std::shared_ptr<CollectorContents> contents;
  uint32_t emptiedLine = 0; // by the last use, or by a discard
};

class Cta {
public:
  Cta(Cluster &cluster, Dim3 index, unsigned rank);
  Cluster *cluster;
  Dim3 index;
  unsigned rank; // in the cluster
  std::vector<uint8_t> shared;
  std::vector<uint8_t> barrierLive; // MbarrierLayout of each 8 bytes: 0 where none is
  /// Transaction bytes of the open phase of an mbarrier, by offset.
  struct TransactionBytes {
    uint64_t expected = 0, came = 0;
  };
  std::map<uint64_t, TransactionBytes> transactions;
  NamedBarrier named[16];
  Tmem tmem;
  PairCall pairCall;
  Collector collectors[2]; // of A and B, in the even CTA of a pair
  std::vector<std::unique_ptr<Warp>> warps;
  uint32_t liveThreads = 0;
  uint32_t exitLine = 0; // of the last thread that has exited

  bool isBarrier(uint64_t offset) const {
    return offset / 8 < barrierLive.size() && barrierLive[offset / 8];
  }
  /// Threads left the CTA: barriers that wait for all may be complete.
  void threadsExited(uint32_t count);
  void completeNamed(unsigned id);
};

class Cluster {
public:
  Cluster(Launch &launch, uint64_t turn, const ClusterPlace &place);
  ~Cluster();
  Launch &launch;
  uint64_t turn; // in the order of starts
  ClusterPlace place;
  std::vector<std::unique_ptr<Cta>> ctas;
  uint64_t executed = 0; // thread instructions
  uint64_t steps = 0;    // scheduler steps, for %clock
  uint64_t progress = 0; // counts changes that others can see
  uint32_t clusterArrived = 0, clusterExpected = 0;
  uint64_t clusterGeneration = 0;
  uint32_t cancelFailureLine = 0;   // where an answer of try_cancel said no cluster was left
  bool issuedNow = false;           // an operation was issued in this slice
  std::unique_ptr<Hazards> hazards; // null: not checked

  void fail(uint32_t line, const Fault &fault);
  /// It has failed, or one before it has.
  bool stopped() const { return failed || launch.failedAt < turn; }
  enum class Turn : uint8_t { ended, stopped, waits };
  /// Runs until all CTAs have ended, it was stopped, or nothing happens in it any more:
  /// it waits for other clusters, or for ever.
  Turn run();
  uint64_t sawChanges = ~uint64_t(0); // Launch::changes when it last looked
  /// Unless memory changes it will come back to its present state for ever.
  bool repeatsItself() const;
  void reportStuck(const std::string &others = {});
  bool expireTries();
  void issue(std::unique_ptr<AsyncOp> op, Warp &warp, const Instruction &in, AsyncOp::Pipe pipe,
             uint32_t lanes);
  bool inFlight(const std::function<bool(const AsyncOp &)> &match) const;
  const std::deque<std::unique_ptr<AsyncOp>> &operations() const { return ops; }
  /// The CTA and offset of a shared address; null when the rank does not exist.
  Cta *ctaOf(uint64_t address) {
    return (address >> kClusterShift) < ctas.size() ? ctas[address >> kClusterShift].get()
                                                    : nullptr;
  }
  void clusterExited(uint32_t threads);
  /// The last thread of the CTA has exited: what must not be in flight is reported.
  void ctaExited(const Cta &cta);
  void clusterCheck();
  uint64_t random();

private:
  std::deque<std::unique_ptr<AsyncOp>> ops;
  uint64_t nextId = 1;
  uint64_t rng;
  bool failed = false;
  bool eligible(size_t i) const;
  void landAt(size_t i);
  void landAllEligible();
  void landSome();
  bool landForWaiters(std::vector<Warp *> &order);
  bool finish();
  std::vector<Warp *> order; // those that have not exited
  uint64_t announced = 0;    // `progress` when Launch::changes was last told
  uint64_t idle = 0;         // rounds in which nothing changed
  uint64_t repeatsAt = ~uint64_t(0);
  bool repeats() const;
};

/// Resolves a generic address to a space and an address in it.
Space classify(uint64_t generic, uint64_t &address);
/// "local memory bytes 0x10..0x17", for messages.
std::string describeBytes(Space space, uint64_t address, uint64_t bytes);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_MACHINE_H
