// Products of blocks become PTX that ptxas takes for every chip that they are built for,
// without spills, two blocks an SM, and without f16 between the mma and the store.
// REQUIRES: ptxas

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a %examples/q4k.mlir -o %t.ptx --manifest=%t.json
// RUN: FileCheck %s --check-prefix=STAGED < %t.ptx
// RUN: FileCheck %s --check-prefix=MANIFEST < %t.json
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=128
// RUN: %python %S/Inputs/no_halves.py %t.ptx
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_80 %examples/q4k.mlir -o %t.ptx
// RUN: FileCheck %s -DARCH=sm_80 < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_80 %t.ptx registers=128
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_89 %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_89 %t.ptx registers=128
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_120a %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_120a %t.ptx registers=120
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_121a %examples/q4k.mlir -o %t.ptx --manifest=%t.json
// RUN: FileCheck %s -DARCH=sm_121a < %t.ptx
// RUN: FileCheck %s --check-prefix=TWO-WORD < %t.json
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_121a --pin=sums=packed %examples/q4k.mlir -o %t.packed.ptx --manifest=%t.json
// RUN: FileCheck %s --check-prefix=PACKED < %t.json
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_121a %t.packed.ptx registers=120
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_121a %t.ptx registers=120
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=sums=packed %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=128
// RUN: %python %S/Inputs/no_halves.py %t.ptx
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=kernel=wide %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=255
// RUN: %python %S/Inputs/no_halves.py %t.ptx
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=kernel=narrow %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=128
// RUN: %python %S/Inputs/no_halves.py %t.ptx
// Passes of two blocks.
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=kd=16 %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=255
// RUN: %python %S/Inputs/no_halves.py %t.ptx
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_89 --pin=kd=16 %examples/q4k.mlir -o %t.ptx --manifest=%t.json
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_89 %t.ptx registers=128
// RUN: FileCheck %s --check-prefix=NARROW < %t.json

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=activations=transposed,convert=cvt,flight=4 %examples/q4k.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefixes=RING,FOLD < %t.ptx
// RUN: sed 's/fma\.rn\.f32/fma.rn.f16/' %t.ptx > %t.half.ptx
// RUN: not %python %S/Inputs/no_halves.py %t.half.ptx 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=128
// RUN: %python %S/Inputs/no_halves.py %t.ptx
// RUN: sed 's/-> tensor<2048x18944xf32>$/{contract = #blockscale.contract<bounded>} &/' %examples/q4k.mlir > %t.bounded.mlir
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=activations=transposed,convert=cvt,flight=4 %t.bounded.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefixes=RING,MINIMA < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=128
// RUN: %python %S/Inputs/no_halves.py %t.ptx
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_80 --pin=activations=transposed %t.bounded.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_80 %t.ptx registers=128
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_121a --pin=activations=transposed %t.bounded.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_121a %t.ptx registers=120
// RUN: not blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=activations=transposed,minima=mma %examples/q4k.mlir -o %t.none 2>&1 | FileCheck %s --check-prefix=ORDERED

// RUN: not blockscale-translate --mlir-to-ptx --arch=sm_100a %examples/q4k.mlir -o %t.none 2>&1 | FileCheck %s --check-prefix=TCGEN
// RUN: not blockscale-translate --mlir-to-ptx --arch=sm_75 %examples/q4k.mlir -o %t.none 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not ls %t.none

// CHECK: .version 9.0
// CHECK: .target [[ARCH]]{{$}}
// CHECK: .entry gemm_0(
// CHECK: .reqntid 256
// CHECK: .minnctapersm 2
// CHECK: cp.async.cg.shared.global
// CHECK: ld.global.nc.v4.b32
// CHECK: ldmatrix.sync.aligned.m8n8.x4
// CHECK: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// CHECK-NOT: f16
// CHECK: st.global.v2.b32
// CHECK-NOT: f16
// CHECK: ret;

// Two stages: 20 copies in front of the loop and 20 in it, and a barrier behind both.
// STAGED: .target sm_90a{{$}}
// STAGED: .minnctapersm 2
// STAGED-COUNT-16: cp.async.ca.shared.global {{.*}}, 4;
// STAGED: cp.async.wait_group 0
// STAGED: bar.sync 0
// STAGED: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// STAGED: cp.async.wait_group 0
// STAGED: bar.sync 0
// STAGED-NOT: {{bar.sync|f16}}
// STAGED: st.global.v2.b32
// STAGED-NOT: {{bar.sync|f16}}
// STAGED: ret;

// A ring: tiles by bulk copies, each warp's rows by its own, and no barrier in the loop.
// RING: mbarrier.init.shared.b64
// RING: bar.sync 0
// RING: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
// RING: mbarrier.try_wait
// RING: cp.async.wait_group 1
// RING: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// FOLD-NOT: f16
// MINIMA-NOT: {{[.]f16}}
// MINIMA: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// MINIMA: mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32
// MINIMA-NOT: {{[.]f16}}
// RING: fence.proxy.async
// FOLD-NOT: f16
// RING-NOT: bar.sync
// RING: st.global.v2.b32
// RING-NOT: {{bar.sync|[.]f16}}
// RING: ret;

// HALF: no f16 may lie between an mma and a store, got fma.rn.f16 of a sum

// ORDERED: gemm_c25: minima of a schedule must be fold where the contract is ordered

// MANIFEST: "grid": [
// MANIFEST-NEXT: 32,
// MANIFEST-NEXT: 148,
// MANIFEST: "kind": "scalar",
// MANIFEST-NEXT: "type": "i32",
// MANIFEST-NEXT: "value": 2048
// MANIFEST: "shared_bytes": 90112
// TWO-WORD: "shared_bytes": 45056
// PACKED: "shared_bytes": 43008
// NARROW: "shared_bytes": 98304

// TCGEN: warp_schedule_c1: chip of a product of blocks must be one of sm_80, sm_89, sm_90a, sm_120a, sm_121a, got sm_100a
// OLD: schedule_c1: chip must be one of
