//===- Faults.cpp - the table of what the machine refuses -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row a code: the hazard rule that it breaks, where there is one, and which
// instruction is missing or which value is wrong. What a fault itself knows, its memory
// and its other party, comes with it (Fault.h).
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "../Addresses.h"
#include "../Fault.h"
#include "../Text.h"

#include <algorithm>
#include <iterator>

namespace blockscale::emu {
namespace {

constexpr HazardLack kMissing = HazardLack::missing, kWrong = HazardLack::wrong;

// By code; tools/lint/fault_codes.py holds it against the messages of the handlers.
constexpr HazardFault kFaults[] = {
    {"a_copies", "", kWrong, "A, whose 64 rows must be written to both halves of the lanes"},
    {"async_cluster", "", kWrong, "the cluster of the launch, which must have two CTAs or more"},
    {"async_cta", "", kWrong, "the address of the destination or of the mbarrier"},
    {"async_space", "", kWrong, "the address of the destination"},
    {"bar_count", "", kWrong, "the thread count of the barrier, or who arrives at it"},
    {"bar_id", "", kWrong, "the number of the barrier"},
    {"bar_reduce", "", kMissing,
     "a read of the result by every thread before the next barrier.red"},
    {"brx_index", "", kWrong, "the index of the branch"},
    {"bulk_align", "", kWrong, "the address or the size of the copy"},
    {"bulk_size", "", kWrong, "the size of the copy"},
    {"call_depth", "", kWrong, "the condition that ends the recursion, or how deep it goes"},
    {"call_target", "", kWrong, "the address, or the prototype or targets of the call"},
    {"call_unexecuted", "", kWrong, "the address, or that function, which is not executed"},
    {"cancel_address", "", kWrong, "the address of the answer or of the mbarrier"},
    {"cancel_after_failure", "CL3", kMissing,
     "a branch around the request once clusterlaunchcontrol.query_cancel has seen a failure"},
    {"cancel_multicast", "CL3", kMissing, "a wait for the answer in every CTA before its exit"},
    {"cluster_arrive", "CL1", kMissing, "barrier.cluster.wait between the two arrivals"},
    {"cluster_exited", "CL2", kMissing,
     "a barrier or arrival between the access and the exit of that CTA"},
    {"cluster_wait", "", kMissing, "barrier.cluster.arrive before the wait"},
    {"collector_a", "TM14", kMissing,
     "collector::a::fill of that operand by an earlier tcgen05.mma of the warp"},
    {"collector_b", "TM14", kMissing,
     "collector::b::fill of that operand by an earlier tcgen05.mma of the warp"},
    {"collector_source", "TM14", kMissing,
     "a commit of the product that uses the buffer and a wait for it, before the operand is "
     "written; or a fill behind the write"},
    {"cp_async_size", "", kWrong, "the size of the source"},
    {"cp_bounds", "", kWrong, "the descriptor of the source: its start or its strides"},
    {"cp_lane", "", kWrong, "the lane of the tensor memory address"},
    {"deadlock", "", kMissing, "an arrival, copy or commit that ends one of these waits"},
    {"exit", "", kMissing, "a wait for its completion before the CTA exits"},
    {"idesc_c", "", kWrong, "the instruction descriptor"},
    {"limit", "", kWrong, "the limit of instructions of the launch, or a loop that does not end"},
    {"livelock", "", kMissing, "an arrival, copy, commit or store that ends one of these polls"},
    {"mapa_rank", "", kWrong, "the rank of mapa"},
    {"matrix_aligned", "", kMissing, "bar.warp.sync of all lanes before the instruction"},
    {"mbar_address", "", kWrong, "the address of the mbarrier"},
    {"mbar_align", "", kWrong, "the address of the mbarrier"},
    {"mbar_arrivals", "MB5", kWrong,
     "the count of mbarrier.init, or the number of arrivals in a phase"},
    {"mbar_count", "MB5", kWrong, "the count of mbarrier.init, or of arrivals added to it"},
    {"mbar_drop", "MB5", kWrong, "the count of mbarrier.init, or that of arrive_drop"},
    {"mbar_init", "MB1", kMissing,
     "mbarrier.init before this use, or this use before mbarrier.inval"},
    {"mbar_multicast", "", kWrong, "the mask of CTAs"},
    {"mbar_nocomplete", "MB5", kWrong,
     "the modifier .noComplete, which the last arrival of a phase must not have"},
    {"mbar_parity", "", kWrong, "the parity of the wait"},
    {"mbar_state", "", kWrong, "the state operand"},
    {"mbar_tx", "MB5", kWrong, "the bytes of expect_tx, or those of the copies"},
    {"mbar_wait", "MB3", kMissing, "an mbarrier of the own CTA that the other CTA arrives at"},
    {"mem_align", "", kWrong, "the address"},
    {"mem_const", "", kWrong, "the address: kernels only read .const variables"},
    {"mem_global", "", kWrong, "the address, or the size of the buffer"},
    {"mem_local", "", kWrong, "the address"},
    {"mem_param", "", kWrong, "the address"},
    {"mem_shared", "", kWrong, "the address, or the shared bytes of the launch"},
    {"mma_bounds", "", kWrong, "the descriptor of the operand: its start or its strides"},
    {"mma_form", "", kWrong, "the instruction descriptor, which asks for what is not executed"},
    {"mma_k96", "", kWrong, "the descriptor of an operand"},
    {"mma_lane", "", kWrong, "the lane of the accumulator's address"},
    {"mma_scale_id", "", kWrong, "the byte-id or thread-id of the scales"},
    {"mma_unmodelled", "", kMissing, "the option that runs products without a published model"},
    {"register_unset", "RG1", kMissing, "a write of the register"},
    {"scale_parts", "", kMissing,
     "a tcgen05.cp.warpx4, or stores by all four warps, that write the scales to every part"},
    {"smem_desc_c", "", kWrong, "the shared memory descriptor"},
    {"stack_pointer", "", kWrong, "the pointer, which must be that of stacksave"},
    {"stack_size", "", kWrong, "the size, or stackrestore is missing in a loop"},
    {"tcgen05_cta_group", "", kWrong, "the cluster, or .cta_group: the peer CTA must be there"},
    {"tensor_map_c", "", kWrong, "a field of the tensor map"},
    {"tensormap_replace", "", kWrong, "the new value of the field"},
    {"tma_align", "", kWrong, "the shared address"},
    {"tma_coordinate", "", kWrong, "the coordinates"},
    {"tma_gather4", "", kWrong, "the box of the tensor map"},
    {"tma_map", "", kWrong, "the address of the tensor map, or what lies there"},
    {"tma_mbarrier", "", kWrong, "the address of the mbarrier"},
    {"tma_multicast", "", kWrong, "the mask of CTAs"},
    {"tma_override", "", kWrong, "an operand of .override"},
    {"tma_rank", "", kWrong, "the tensor map, or the rank of the instruction"},
    {"tma_reduce", "", kWrong, "the type of the tensor map"},
    {"tma_shared", "", kWrong, "the address of the destination"},
    {"tma_store", "", kWrong, "the type of the tensor map"},
    {"tmem_address", "", kWrong, "the address, which all lanes must share"},
    {"tmem_alloc", "TM13", kWrong, "the order or the columns of the allocations of the CTA"},
    {"tmem_bounds", "TM13", kMissing, "a tcgen05.alloc of these columns that is not freed yet"},
    {"tmem_c", "", kWrong, "the number of columns"},
    {"tmem_dealloc", "TM13", kMissing,
     "tcgen05.wait, or a commit and a wait, before it; and a tcgen05.alloc of the same columns"},
    {"tmem_lanes", "", kWrong, "the lane of the address"},
    {"tmem_leak", "TM13", kMissing, "tcgen05.dealloc before the exit"},
    {"tmem_pair", "", kMissing, "the same instruction, with the same columns, in the peer CTA"},
    {"tmem_unwritten", "TM15", kMissing,
     "a tcgen05.st, cp or mma that writes these columns in every lane that is read"},
    {"trap", "", kWrong, "what the kernel itself checks"},
    {"warp_aligned", "", kWrong, "the guard, or bar.warp.sync is missing before the instruction"},
    {"warp_members", "", kWrong, "the member mask, or who executes the instruction"},
    {"wgmma_bounds", "", kWrong, "the descriptor of the operand: its start or its strides"},
    {"wgmma_desc", "", kWrong, "the descriptor"},
    {"wgmma_group", "", kWrong, "the block size of the launch"},
    {"wgmma_uniform", "", kWrong, "the descriptor"},
};
static_assert(std::is_sorted(std::begin(kFaults), std::end(kFaults),
                             [](const HazardFault &a, const HazardFault &b) {
                               return a.code < b.code;
                             }));

const HazardFault *rowOf(std::string_view code) {
  auto at = [](std::string_view want) -> const HazardFault * {
    auto it = std::find_if(std::begin(kFaults), std::end(kFaults),
                           [&](const HazardFault &f) { return f.code == want; });
    return it == std::end(kFaults) ? nullptr : it;
  };
  if (const HazardFault *exact = at(code))
    return exact;
  while (!code.empty() && code.back() >= '0' && code.back() <= '9')
    code.remove_suffix(1);
  return at(code);
}

constexpr uint64_t kMostRank = 15; // of a cluster of a non-portable size

std::string range(uint64_t from, uint64_t bytes) {
  return bytes ? hex(from) + ".." + hex(from + bytes - 1) : hex(from);
}

} // namespace

std::span<const HazardFault> hazardFaults() { return kFaults; }

std::string sharedBytes(uint64_t address, uint64_t bytes) {
  const uint64_t rank = address >> kClusterShift;
  if (rank > kMostRank) // no CTA's
    return "shared memory bytes " + range(address, bytes);
  return "shared memory bytes " + range(address & kSharedOffsetMask, bytes) + " of cta rank " +
         dec(int64_t(rank));
}

std::string globalBytes(uint64_t address, uint64_t bytes) {
  return "global memory bytes " + range(address, bytes);
}

std::string tensorColumns(unsigned column, unsigned columns, unsigned rank) {
  return "tensor memory columns " + dec(column) + ".." + dec(int64_t(column) + columns - 1) +
         " of cta rank " + dec(rank);
}

std::string faultLines(const Fault &fault, const std::string &file) {
  std::string out;
  if (!fault.memory.empty())
    out += "\n  memory: " + fault.memory;
  if (fault.otherLine)
    out += "\n  other: " + fault.other + " at " + file + ":" + dec(fault.otherLine);
  for (const HazardRule &rule : hazardRules())
    if (!fault.breaks.empty() && rule.label == fault.breaks)
      return out + lackLine(rule.lack, rule.missing, rule.label);
  if (!fault.lack.empty())
    return out + lackLine(HazardLack::missing, fault.lack, "");
  if (const HazardFault *row = rowOf(std::string_view(fault.text).substr(0, fault.text.find(':'))))
    out += lackLine(row->lack, row->missing, row->label);
  return out;
}

} // namespace blockscale::emu
