//===- CudaApi.h - the part of the CUDA driver interface that is used -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declared here, because the driver is looked for when a program runs and its
// header is not needed to build. Names, values and signatures: cuda.h of CUDA
// 13.5.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_CUDAAPI_H
#define BLOCKSCALE_LIB_RUNTIME_CUDAAPI_H

#include <cstddef>
#include <cstdint>

namespace blockscale::rt::cuda {

using Status = int; // CUresult; 0 is success
using Device = int;
using Pointer = unsigned long long;
using Context = struct ContextImpl *;
using Module = struct ModuleImpl *;
using Function = struct FunctionImpl *;
using Stream = struct StreamImpl *;
using Event = struct EventImpl *;

enum JitOption : int {
  kJitErrorLogBuffer = 5,
  kJitErrorLogBufferSizeBytes = 6,
};

enum FunctionAttribute : int {
  kLocalSizeBytes = 3,
  kRegisters = 4,
  kMaxDynamicSharedSizeBytes = 8,
  kNonPortableClusterSizeAllowed = 14,
};

enum LaunchAttributeId : int {
  kLaunchClusterDimension = 4,
  kLaunchProgrammaticStreamSerialization = 6,
  kLaunchPreferredClusterDimension = 11,
  kLaunchSharedMemoryMode = 18,
};

inline constexpr int kSharedMemoryModeAllowOversized = 3;

struct LaunchAttribute {
  LaunchAttributeId id;
  char padding[8 - sizeof(LaunchAttributeId)];
  union {
    char whole[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int programmaticStreamSerializationAllowed;
    int sharedMemoryMode;
  } value;
};

struct LaunchConfig {
  unsigned grid[3], block[3];
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

/// Exported names carry the version of their signature.
struct Api {
  Status (*init)(unsigned flags);                        // cuInit
  Status (*getErrorString)(Status, const char **);       // cuGetErrorString
  Status (*deviceGet)(Device *, int ordinal);            // cuDeviceGet
  Status (*deviceGetName)(char *, int bytes, Device);    // cuDeviceGetName
  Status (*primaryContextRetain)(Context *, Device);     // cuDevicePrimaryCtxRetain
  Status (*primaryContextRelease)(Device);               // cuDevicePrimaryCtxRelease_v2
  Status (*contextSetCurrent)(Context);                  // cuCtxSetCurrent
  Status (*contextSynchronize)();                        // cuCtxSynchronize
  Status (*memoryAllocate)(Pointer *, size_t);           // cuMemAlloc_v2
  Status (*memoryFree)(Pointer);                         // cuMemFree_v2
  Status (*copyToDevice)(Pointer, const void *, size_t); // cuMemcpyHtoD_v2
  Status (*copyToHost)(void *, Pointer, size_t);         // cuMemcpyDtoH_v2
  Status (*moduleLoadData)(Module *, const void *, unsigned, int *, void **); // cuModuleLoadDataEx
  Status (*moduleUnload)(Module);                                             // cuModuleUnload
  Status (*moduleGetFunction)(Function *, Module, const char *);              // cuModuleGetFunction
  Status (*functionSetAttribute)(Function, FunctionAttribute, int);           // cuFuncSetAttribute
  Status (*functionGetAttribute)(int *, FunctionAttribute, Function);         // cuFuncGetAttribute
  // cuOccupancyMaxActiveBlocksPerMultiprocessor
  Status (*occupancy)(int *blocks, Function, int threads, size_t dynamicSharedBytes);
  Status (*launchKernel)(const LaunchConfig *, Function, void **, void **); // cuLaunchKernelEx
  Status (*eventCreate)(Event *, unsigned flags);                           // cuEventCreate
  Status (*eventDestroy)(Event);                                            // cuEventDestroy_v2
  Status (*eventRecord)(Event, Stream);                                     // cuEventRecord
  Status (*eventElapsedTime)(float *milliseconds, Event start, Event end);  // cuEventElapsedTime
  Status (*tensorMapEncodeTiled)(void *map, int type, uint32_t rank, void *address,
                                 const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                 const uint32_t *elementStrides, int interleave, int swizzle,
                                 int l2, int fill);
};

} // namespace blockscale::rt::cuda

#endif // BLOCKSCALE_LIB_RUNTIME_CUDAAPI_H
