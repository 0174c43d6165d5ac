//===- Rules.cpp - the table of the hazard rules --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row a rule: what is wrong, what would make it right, where the manual says so.
// Rules OS1 and on are our own; the others carry the labels of the ordering rules that
// docs/Hazards.md explains. TM9s is the strict half of TM9;
// MB2w and BK3w are what shipping kernels do of MB2 and BK3.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include <iterator>

namespace blockscale::emu {
namespace {

constexpr HazardRule kRules[] = {
    {"TM1", HazardLevel::error,
     "tensor memory of mma, cp or shift touched outside the pipelined pairs before its commit was "
     "seen",
     "an acquiring wait on the mbarrier of a tcgen05.commit behind it", "9.7.18.6.2", "", ""},
    {"TM2", HazardLevel::never, "tcgen05.ld result used without wait::ld", "", "9.7.18.6.4.5", "",
     ""},
    {"TM3", HazardLevel::error,
     "columns released while a tcgen05.ld is neither waited for nor consumed",
     "tcgen05.wait::ld before the arrival that releases the columns, and a wait on that arrival",
     "9.7.18.6.4.5", "A4", ""},
    {"TM4", HazardLevel::error,
     "registers of a tcgen05.ld written before it was waited for or used",
     "tcgen05.wait::ld before the registers are reused", "9.7.18.6.4.5", "", ""},
    {"TM5", HazardLevel::error, "columns of tcgen05.st used elsewhere before the store is complete",
     "tcgen05.wait::st before the arrival, and a wait on that arrival", "9.7.18.8.5", "", ""},
    {"TM6", HazardLevel::never, "tcgen05.st, ld, st of one warp without waits",
     "tcgen05.wait between them", "pairs 11-13 of 9.7.18.6.2", "early: error", ""},
    {"TM7", HazardLevel::never,
     "tcgen05.cp rewrites scales that an earlier tcgen05.mma of the warp reads",
     "a commit and a wait between them", "9.7.18.6.2", "A1, A2: without, strict", ""},
    {"TM8", HazardLevel::error, "a pipelined pair is split over warps",
     "a commit and a wait between them, unless both are in one warp", "9.7.18.6.2",
     "early: not behind tcgen05 fences", ""},
    {"TM9", HazardLevel::error, "tcgen05 fence missing at relaxed synchronisation",
     "tcgen05.fence::before_thread_sync ahead of a relaxed arrival, ::after_thread_sync behind a "
     "relaxed wait",
     "9.7.18.6.3", "", ""},
    {"TM9s", HazardLevel::strict, "tcgen05 fence missing at acquire-release synchronisation",
     "tcgen05.fence::after_thread_sync behind the wait", "9.7.18.6.3", "A3: without, strict", ""},
    {"TM10", HazardLevel::error,
     "tcgen05.commit by another thread or cta_group does not track the operation",
     "the commit in the thread and cta_group of the operation", "9.7.18.12.1", "", ""},
    {"TM11", HazardLevel::error, "accumulator rewritten before the peer CTA has read it",
     "a wait on an arrival of the peer's readers", "9.7.18.5", "", ""},
    {"TM12", HazardLevel::error,
     "accumulators of two tcgen05.mma overlap with another address or shape",
     "a commit and a wait between them", "pairs 4-6 of 9.7.18.6.2", "early: or kind", ""},
    {"TM13", HazardLevel::error, "tensor memory freed while an access to it may be in flight",
     "completion of all accesses seen by the warp that frees", "9.7.18.7.1", "", ""},
    {"TM14", HazardLevel::error, "collector buffer used without a valid fill",
     "collector::fill by an earlier tcgen05.mma of the warp", "9.7.18.10", "", ""},
    {"TM15", HazardLevel::error, "tensor memory cell read that was never written",
     "a write of the cell", "none", "", ""},
    {"SM1", HazardLevel::error,
     "shared memory overwritten while tcgen05.mma or cp may still read it",
     "a wait on the mbarrier of a tcgen05.commit behind the reader", "9.7.18.10", "", ""},
    {"SM2", HazardLevel::error, "restricted commit trusted for B, scales or D",
     "a tcgen05.commit without .sync_restrict", "9.7.18.12.1", "", ""},
    {"PX1", HazardLevel::error, "ordinary store not made visible to the async proxy",
     "fence.proxy.async by the writer before the synchronisation, or by the issuer behind it",
     "9.7.18.6.5, 9.7.10.28.2", "", ""},
    {"PX2", HazardLevel::warning, "cp.async data not made visible to the async proxy",
     "fence.proxy.async behind the wait for the copy", "9.7.10.28.3.1", "", ""},
    {"PX3", HazardLevel::warning,
     "ordinary access not ordered before an overwrite by the async proxy",
     "fence.proxy.async between the access and the synchronisation", "8.9.5, 9.7.15.18", "", ""},
    {"PX4", HazardLevel::never,
     "data of a bulk copy used after its wait; async access after async access; store over what a "
     "committed operation read",
     "fence.proxy.async between the two", "9.7.10.28.2, 8.9.5", "A7: without, strict", ""},
    {"MB1", HazardLevel::error, "mbarrier used before its initialisation is visible",
     "a barrier between mbarrier.init and its use", "9.7.15.16.4", "", ""},
    {"MB2", HazardLevel::error, "mbarrier.init released by a relaxed cluster arrive alone",
     "fence.mbarrier_init.release.cluster behind mbarrier.init", "9.7.15.4", "", ""},
    {"MB2w", HazardLevel::warning,
     "mbarrier.init released by a relaxed cluster arrive, behind the warp's last "
     "fence.mbarrier_init",
     "fence.mbarrier_init.release.cluster behind mbarrier.init", "9.7.15.4", "",
     "MB2 as CUTLASS's kernels for CTA pairs have it: the barrier of the deallocation"},
    {"MB3", HazardLevel::error, "wait on a phase two or more behind, by another's state, or remote",
     "a wait for every phase, with its parity", "9.7.15.16.19", "",
     "the states of the emulator's arrivals tell the mbarrier and the phase, wherever the program "
     "keeps them"},
    {"MB4", HazardLevel::warning, "arrival on a phase while nobody has seen the one before",
     "a wait for the previous phase before the arrival", "9.7.15.16.5", "", ""},
    {"MB5", HazardLevel::error, "transaction bytes or arrivals of an mbarrier do not add up",
     "the bytes of expect_tx, those of the copies that signal the mbarrier, or the count of "
     "mbarrier.init: a phase must get what it expects",
     "9.7.15.16.8", "", "", HazardLack::wrong},
    {"MB6", HazardLevel::never, "bulk copy before or after expect_tx in one phase", "",
     "9.7.15.16.3", "", ""},
    {"MB7", HazardLevel::error, "bytes of a live mbarrier reused",
     "mbarrier.inval before other use", "9.7.15.16.13", "", ""},
    {"MB8", HazardLevel::never, "remote arrive or its wait at .cta scope",
     "the scope, which must be .cluster", "8.7", "A5: without, strict", "", HazardLack::wrong},
    {"BK1", HazardLevel::error, "source of a bulk store rewritten before it was read",
     "cp.async.bulk.commit_group and wait_group.read by the thread that issued it, then a barrier "
     "to other writers",
     "9.7.10.28.1, 9.7.10.28.6", "", ""},
    {"BK2", HazardLevel::warning, "result of a bulk store used after wait_group.read only",
     "cp.async.bulk.wait_group without .read", "9.7.10.28.6.2", "", ""},
    {"BK3", HazardLevel::error, "thread exits while an uncommitted bulk store may read its source",
     "cp.async.bulk.commit_group and wait_group.read before the exit", "9.7.10.28.6", "", ""},
    {"BK3w", HazardLevel::warning,
     "thread exits while a committed bulk store may still read its source",
     "cp.async.bulk.wait_group.read before the exit", "9.7.10.28.6",
     "A8: a full wait_group without, strict",
     "CUTLASS's kernels end so where their epilogue has no C"},
    {"GM1", HazardLevel::error, "global memory shared by CTAs without a gpu release and acquire",
     "a release and an acquire at gpu scope between the CTAs", "8.7.1", "", ""},
    {"GM2", HazardLevel::warning, "data of another CTA read by a bulk copy without a proxy fence",
     "fence.proxy.async by the reader", "8.9.5", "", ""},
    {"GM3", HazardLevel::error, "conflict with an unfinished earlier grid",
     "griddepcontrol.wait before the access, or in the earlier grid a fence of gpu scope between "
     "its access and griddepcontrol.launch_dependents",
     "9.7.15.14", "", ""},
    {"GM4", HazardLevel::never, "data of an earlier kernel read by a bulk copy without a fence", "",
     "8.9.4", "", ""},
    {"TP1", HazardLevel::error, "tensor map changed in use, or its change not released or acquired",
     "fence.proxy.tensormap::generic acquire by the user of the map", "8.9.4, 9.7.15.17", "", ""},
    {"CL1", HazardLevel::error, "relaxed cluster arrive trusted for data",
     "barrier.cluster.arrive.release", "9.7.15.3", "", ""},
    {"CL2", HazardLevel::error, "shared or tensor memory of a CTA touched that may have exited",
     "a barrier or arrival between the access and the exit of that CTA", "9.7.18.5", "", ""},
    {"CL3", HazardLevel::error, "clusterlaunchcontrol.try_cancel after a failure was seen",
     "a branch around the request once clusterlaunchcontrol.query_cancel has seen a failure",
     "9.7.15.18", "", ""},
    {"CL4", HazardLevel::error, "elect.sync or .aligned taken as memory order between lanes",
     "bar.warp.sync between the lanes", "9.7.15.15", "", ""},
    {"RG1", HazardLevel::error, "register new from setmaxnreg.inc read unset",
     "a write of the register", "9.7.21.5", "",
     "addresses, guards and descriptors in registers that no instruction writes: of others PTX, "
     "whose registers are virtual, does not say which setmaxnreg brings"},
    {"OS1", HazardLevel::error,
     "bytes read before the completion of the copy that writes them was seen",
     "an acquiring wait on the mbarrier, or the wait_group, of the copy", "9.7.10.28.2", "",
     "a wait whose predicate no instruction reads tells nobody anything"},
    {"OS2", HazardLevel::error, "shared memory accesses of two threads without order",
     "a barrier between them", "8.7.1", "", ""},
    {"OS3", HazardLevel::error, "asynchronous write overlaps another write that may be unfinished",
     "completion of the first write seen before the second is issued", "9.7.10.28.2", "", ""},
    {"OS4", HazardLevel::warning,
     "cp.async.cg destination at or above 0x3E000 on sm_107a (from a code comment, unmeasured)",
     "the destination, which must lie below 0x3E000", "none", "", "", HazardLack::wrong},
    {"OS5", HazardLevel::error, "relaxed mbarrier wait or arrival trusted for data",
     "an acquiring wait and a releasing arrival, or fence.acq_rel", "8.7", "", ""},
    {"OS6", HazardLevel::warning, "two threads store the same value without order",
     "a barrier between them", "8.7.1", "", ""},
    {"OS7", HazardLevel::warning, "global memory accesses of two threads of a CTA without order",
     "a barrier between them", "8.7.1", "", ""},
    {"OS8", HazardLevel::strict,
     ".aligned instruction behind a divergent branch, where nothing makes lanes wait for each "
     "other",
     "bar.warp.sync, or another .sync of all lanes, behind the branch", "9.7.15.2", "A9", ""},
    {"OS9", HazardLevel::error,
     "registers of wgmma.mma_async used before they were waited for, or by it without a fence "
     "behind their last use",
     "wgmma.fence ahead of the product, wgmma.commit_group and wgmma.wait_group behind it",
     "9.7.16", "", "not between products of one shape that add up in the same registers"},
    {"OS10", HazardLevel::warning,
     "global memory shared by CTAs through fences of gpu scope and relaxed accesses on the two "
     "sides of a barrier",
     "a fence of gpu scope in the thread of the relaxed write, behind the barrier; and in that of "
     "the relaxed read, ahead of it",
     "8.9.5", "", ""},
    {"OS11", HazardLevel::warning,
     "ordinary load as the first guess of a compare-and-swap, unordered with atomics of other "
     "threads",
     "ld.relaxed at a scope that holds the other threads", "8.7.1", "", ""},
    {"OS12", HazardLevel::warning, "lanes of one instruction store different values to one place",
     "the addresses, which must differ among the lanes, or the guard, which must leave one of them",
     "8.7.1", "", "", HazardLack::wrong},
    {"OS13", HazardLevel::strict,
     "shared memory accesses that only the release of a tcgen05.commit orders",
     "a wait, in the thread of the later access, for the earlier one, or another release", "none",
     "A6: without, strict", ""},
    {"OS14", HazardLevel::error,
     "shared memory of another CTA touched before that CTA is known to have started",
     "barrier.cluster.arrive and barrier.cluster.wait by both CTAs ahead of the access", "8.6", "",
     "the manual says it of the CTA's end and CUDA's guide of its start, too"},
    {"OS15", HazardLevel::warning, "first CTA taken from an answer that cancelled no cluster",
     "clusterlaunchcontrol.query_cancel.is_canceled as the guard", "9.7.15.18", "",
     "the manual calls what comes back undefined; who does not use it is safe"},
};
static_assert(std::size(kRules) == size_t(Rule::OS15) + 1);

} // namespace

std::span<const HazardRule> hazardRules() { return kRules; }

} // namespace blockscale::emu
