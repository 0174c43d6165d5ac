// What one kernel writes and the next reads does not go round the host.
// RUN: blockscale-opt %s --blockscale-keep-on-device | FileCheck %s

// CHECK-LABEL: @chain
// CHECK: %[[X:.*]] = blockscale.alloc 4096
// CHECK: %[[Q:.*]] = blockscale.alloc 1280
// CHECK: blockscale.launch @k::@first {{.*}}(%[[X]], %[[Q]] :
// CHECK-NOT: copy %[[Q]]
// CHECK: blockscale.free %[[X]]
// CHECK: %[[D:.*]] = blockscale.alloc 64
// CHECK: blockscale.launch @k::@second {{.*}}(%[[Q]], %[[D]] :
// CHECK: blockscale.copy %[[D]] to
// CHECK: blockscale.free %[[Q]]
// CHECK-NOT: memref.dealloc
func.func @chain(%x: memref<1024xf32>) -> memref<64xi8> {
  %m = memref.alloc() : memref<1280xi8>
  %bx = blockscale.alloc 4096
  blockscale.copy %x to %bx : memref<1024xf32> to !blockscale.buffer
  %bq = blockscale.alloc 1280
  blockscale.launch @k::@first grid [1, 1, 1] block [32, 1, 1] cluster [1, 1, 1] shared 0 (%bx, %bq : !blockscale.buffer, !blockscale.buffer)
  blockscale.copy %bq to %m : !blockscale.buffer to memref<1280xi8>
  blockscale.free %bq
  blockscale.free %bx
  %d = memref.alloc() : memref<64xi8>
  %ba = blockscale.alloc 1280
  blockscale.copy %m to %ba : memref<1280xi8> to !blockscale.buffer
  %bd = blockscale.alloc 64
  blockscale.launch @k::@second grid [1, 1, 1] block [32, 1, 1] cluster [1, 1, 1] shared 0 (%ba, %bd : !blockscale.buffer, !blockscale.buffer)
  blockscale.copy %bd to %d : !blockscale.buffer to memref<64xi8>
  blockscale.free %bd
  blockscale.free %ba
  memref.dealloc %m : memref<1280xi8>
  return %d : memref<64xi8>
}

// Somebody on the host reads it: the copy to the host stays.
// CHECK-LABEL: @read
// CHECK: blockscale.copy %[[Q:.*]] to %[[M:.*]] : !blockscale.buffer to memref<1280xi8>
// CHECK-NOT: copy %[[M]] to
// CHECK: blockscale.launch @k::@second {{.*}}(%[[Q]] :
// CHECK: memref.load %[[M]]
func.func @read(%i: index) -> i8 {
  %m = memref.alloc() : memref<1280xi8>
  %bq = blockscale.alloc 1280
  blockscale.launch @k::@first grid [1, 1, 1] block [32, 1, 1] cluster [1, 1, 1] shared 0 (%bq : !blockscale.buffer)
  blockscale.copy %bq to %m : !blockscale.buffer to memref<1280xi8>
  blockscale.free %bq
  %ba = blockscale.alloc 1280
  blockscale.copy %m to %ba : memref<1280xi8> to !blockscale.buffer
  blockscale.launch @k::@second grid [1, 1, 1] block [32, 1, 1] cluster [1, 1, 1] shared 0 (%ba : !blockscale.buffer)
  blockscale.free %ba
  %v = memref.load %m[%i] : memref<1280xi8>
  memref.dealloc %m : memref<1280xi8>
  return %v : i8
}

// Somebody on the host may write it: nothing is forwarded.
// CHECK-LABEL: @written
// CHECK: blockscale.copy %{{.*}} to %[[M:.*]] : !blockscale.buffer to memref<1280xi8>
// CHECK: memref.store %{{.*}}, %[[M]]
// CHECK: blockscale.copy %[[M]] to
func.func @written(%i: index, %v: i8) {
  %m = memref.alloc() : memref<1280xi8>
  %bq = blockscale.alloc 1280
  blockscale.launch @k::@first grid [1, 1, 1] block [32, 1, 1] cluster [1, 1, 1] shared 0 (%bq : !blockscale.buffer)
  blockscale.copy %bq to %m : !blockscale.buffer to memref<1280xi8>
  blockscale.free %bq
  memref.store %v, %m[%i] : memref<1280xi8>
  %ba = blockscale.alloc 1280
  blockscale.copy %m to %ba : memref<1280xi8> to !blockscale.buffer
  blockscale.launch @k::@second grid [1, 1, 1] block [32, 1, 1] cluster [1, 1, 1] shared 0 (%ba : !blockscale.buffer)
  blockscale.free %ba
  memref.dealloc %m : memref<1280xi8>
  return
}

// The second kernel's buffer is copied back, so it may write it, and the first's is
// launched with once more: each keeps its own.
// CHECK-LABEL: @changed
// CHECK: blockscale.copy %{{.*}} to %[[M:.*]] : !blockscale.buffer to memref<1280xi8>
// CHECK: blockscale.copy %[[M]] to
func.func @changed() {
  %m = memref.alloc() : memref<1280xi8>
  %bq = blockscale.alloc 1280
  blockscale.launch @k::@first grid [1, 1, 1] block [32, 1, 1] cluster [1, 1, 1] shared 0 (%bq : !blockscale.buffer)
  blockscale.copy %bq to %m : !blockscale.buffer to memref<1280xi8>
  blockscale.launch @k::@first grid [1, 1, 1] block [32, 1, 1] cluster [1, 1, 1] shared 0 (%bq : !blockscale.buffer)
  blockscale.free %bq
  %ba = blockscale.alloc 1280
  blockscale.copy %m to %ba : memref<1280xi8> to !blockscale.buffer
  blockscale.launch @k::@second grid [1, 1, 1] block [32, 1, 1] cluster [1, 1, 1] shared 0 (%ba : !blockscale.buffer)
  blockscale.free %ba
  memref.dealloc %m : memref<1280xi8>
  return
}
