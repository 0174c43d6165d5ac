//===- Hopper.cuh - TMA, barriers and wgmma of sm_90a ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function an instruction. Shared addresses are 32 bits.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TOOLS_BENCH_Q4K_HOPPER_CUH
#define BLOCKSCALE_TOOLS_BENCH_Q4K_HOPPER_CUH

#include "Fold.cuh"

#include <cuda.h>

namespace blockscale::q4k {

__device__ inline void initBarrier(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
__device__ inline void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void arriveExpecting(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ inline void wait(unsigned barrier, unsigned parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}\n" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

/// The box of a map at (x, y) to shared memory.
__device__ inline void copyBox(unsigned target, const CUtensorMap &map, int x, int y,
                               unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(target),
               "l"(&map), "r"(x), "r"(y), "r"(barrier)
               : "memory");
}

__device__ inline void fenceProduct() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending> __device__ inline void waitProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/// Rows of 128 bytes with the 128-byte swizzle, eight of them every 1024 bytes.
__device__ inline uint64_t operandOf(unsigned address) {
  return uint64_t(address >> 4) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

#define Q4K_D8(i)                                                                                  \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]),      \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define Q4K_D32(i) Q4K_D8(i), Q4K_D8(i + 8), Q4K_D8(i + 16), Q4K_D8(i + 24)
#define Q4K_TENS(a)                                                                                \
  "%" #a "0,%" #a "1,%" #a "2,%" #a "3,%" #a "4,%" #a "5,%" #a "6,%" #a "7,%" #a "8,%" #a "9,"
#define Q4K_UNITS "%0,%1,%2,%3,%4,%5,%6,%7"
#define Q4K_TO_32 Q4K_UNITS ",%8,%9," Q4K_TENS(1) Q4K_TENS(2) "%30,%31"
#define Q4K_TO_64                                                                                  \
  Q4K_TO_32 ",%32,%33,%34,%35,%36,%37,%38,%39," Q4K_TENS(4) Q4K_TENS(5) "%60,%61,%62,%63"
#define Q4K_TO_128                                                                                 \
  Q4K_TO_64 ",%64,%65,%66,%67,%68,%69," Q4K_TENS(7) Q4K_TENS(8) Q4K_TENS(9) Q4K_TENS(10)           \
      Q4K_TENS(11) "%120,%121,%122,%123,%124,%125,%126,%127"
#define Q4K_WGMMA(n, registers, a0, a1, a2, a3, b, ...)                                            \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.f16.f16 {" registers "}, {%" #a0    \
               ",%" #a1 ",%" #a2 ",%" #a3 "}, %" #b ", 1, 1, 1, 0;"                                \
               : __VA_ARGS__                                                                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(operand))

/// d[rows, columns] += a[rows, 16] * b[columns, 16]^T of a warpgroup; f16, a in registers.
template <int columns>
__device__ inline void multiply(float (&d)[columns / 2], const unsigned (&a)[4], uint64_t operand) {
  if constexpr (columns == 16)
    Q4K_WGMMA(16, Q4K_UNITS, 8, 9, 10, 11, 12, Q4K_D8(0));
  else if constexpr (columns == 32)
    Q4K_WGMMA(32, Q4K_UNITS ",%8,%9,%10,%11,%12,%13,%14,%15", 16, 17, 18, 19, 20, Q4K_D8(0),
              Q4K_D8(8));
  else if constexpr (columns == 64)
    Q4K_WGMMA(64, Q4K_TO_32, 32, 33, 34, 35, 36, Q4K_D32(0));
  else if constexpr (columns == 128)
    Q4K_WGMMA(128, Q4K_TO_64, 64, 65, 66, 67, 68, Q4K_D32(0), Q4K_D32(32));
  else
    Q4K_WGMMA(256, Q4K_TO_128, 128, 129, 130, 131, 132, Q4K_D32(0), Q4K_D32(32), Q4K_D32(64),
              Q4K_D32(96));
}

} // namespace blockscale::q4k

#endif // BLOCKSCALE_TOOLS_BENCH_Q4K_HOPPER_CUH
