/*===- Runtime.h - devices, modules, launches: the C interface --------------===
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A small versioned C ABI with two devices behind it: "emulator", which is
 * always there, and "cuda", the driver found by dlopen. Every call returns a
 * status; the message of the last refusal in a thread is one line. Handles are
 * opaque; structs that callers fill start with their version.
 *
 *===------------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_RUNTIME_RUNTIME_H
#define BLOCKSCALE_RUNTIME_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Structs grow at their end: one of an older version, from BSRT_ABI_OLDEST on, is read as far
 * as that version goes, and what it lacks is 0. */
#define BSRT_ABI_VERSION 5
#define BSRT_ABI_OLDEST 2

typedef enum bsrt_status { BSRT_OK = 0, BSRT_ERROR = 1 } bsrt_status;

typedef struct bsrt_device bsrt_device;
typedef struct bsrt_module bsrt_module;

/** When an asynchronous operation lands in the emulator; others ignore it. */
typedef enum bsrt_timing {
  BSRT_TIMING_EARLIEST = 0,
  BSRT_TIMING_LATEST = 1,
  BSRT_TIMING_RANDOM = 2
} bsrt_timing;

/** Hazard checks of the emulator; others ignore them. */
typedef enum bsrt_hazards {
  BSRT_HAZARDS_ON = 0, /* errors refuse a launch; warnings come with its stats */
  BSRT_HAZARDS_OFF = 1,
  BSRT_HAZARDS_STRICT = 2 /* also what is wrong by the letter only */
} bsrt_hazards;

/** Which clusters the emulator makes of a launch with a preferred cluster size. */
typedef enum bsrt_cluster_choice {
  BSRT_CLUSTERS_MIXED = 0, /* both sizes; the seed says which come first */
  BSRT_CLUSTERS_PREFERRED = 1,
  BSRT_CLUSTERS_FALLBACK = 2 /* only those of the launch's own cluster size */
} bsrt_cluster_choice;

typedef struct bsrt_options {
  uint32_t abi_version; /* BSRT_ABI_VERSION */
  uint32_t timing;      /* a bsrt_timing; other values are refused */
  uint64_t seed;
  uint32_t threads;          /* host threads of the emulator; 0 means 1 */
  uint32_t sms;              /* 0: the chip's own number */
  uint64_t max_instructions; /* 0: no limit */
  uint32_t hazards;          /* a bsrt_hazards; other values are refused */
  uint32_t hazards_denied;   /* bit n: assumption An of docs/Hazards.md does not hold */
  uint32_t unmodelled;       /* 1: refuse products without a published model; 0: label them */
  uint32_t early_manual;     /* 1: the earlier text on pipelined tcgen05 pairs */
  /* Since version 3. */
  uint32_t resident_clusters; /* that run side by side; 0: as many as the chip holds */
  uint32_t cluster_choice;    /* a bsrt_cluster_choice; other values are refused */
  /* Since version 5. */
  uint64_t poll_limit; /* rounds of polls without a change until a launch is given up as livelock;
                          0: 10,000,000 */
} bsrt_options;

/** A TMA tensor map, dimension 0 innermost; codes are the driver's. */
typedef struct bsrt_tensor_map {
  uint32_t abi_version;
  uint32_t type;
  uint32_t rank;                   /* 1 to 5 */
  uint64_t address;                /* of the tensor, on the device */
  const uint64_t *dims;            /* elements, rank of them */
  const uint64_t *strides;         /* bytes, rank - 1 of them */
  const uint32_t *box;             /* elements, rank of them */
  const uint32_t *element_strides; /* rank of them; NULL: all 1 */
  uint32_t swizzle, fill, l2;
} bsrt_tensor_map;

/** One by-value kernel parameter. */
typedef struct bsrt_param {
  const void *bytes;
  size_t size;
} bsrt_param;

typedef struct bsrt_launch_config {
  uint32_t abi_version;
  uint32_t grid[3], block[3], cluster[3];
  uint64_t shared_bytes;     /* dynamic shared memory of one block */
  uint32_t oversized_shared; /* 1: more than a block's ordinary limit */
  uint32_t param_count;
  const bsrt_param *params;
  /* Since version 3. */
  uint32_t preferred_cluster[3]; /* 0, 0, 0: none; else a multiple of cluster, which is what a
                                    block falls back to */
  /* Since version 4. */
  uint32_t programmatic_stream_serialization; /* 1: may start before the launch ahead is over,
                                                 as griddepcontrol tells */
  /* Since version 5. */
  uint32_t registers; /* of a thread, 1 to 255, as ptxas -v prints: the emulator's blocks of an SM
                         follow from it, a driver knows its own; 0: as .maxnreg says */
} bsrt_launch_config;

typedef struct bsrt_launch_stats {
  double seconds;               /* of the kernel by the GPU's events; emulator: host time */
  uint64_t thread_instructions; /* emulator only, as the next two */
  uint64_t mma_instructions;
  double mma_flops;
  const char *labels;   /* '; '-separated; valid until the device's next launch */
  const char *warnings; /* of the hazard checks, each ended by a null byte, the last by two */
} bsrt_launch_stats;

/** What a kernel takes of an SM; 0 where the device does not know, as the emulator. */
typedef struct bsrt_kernel_info {
  uint32_t abi_version;
  uint32_t registers;     /* of a thread */
  uint32_t local_bytes;   /* of a thread: spilled registers and arrays */
  uint32_t blocks_per_sm; /* of the launch's threads and shared memory */
} bsrt_kernel_info;

#define BSRT_TENSOR_MAP_BYTES 128

uint32_t bsrt_abi_version(void);

/** The last refusal in this thread: one line, lower case, no full stop. */
const char *bsrt_error_message(void);

/** Opens "emulator" or "cuda". `options` may be NULL. */
bsrt_status bsrt_device_open(const char *name, const bsrt_options *options, bsrt_device **device);
void bsrt_device_close(bsrt_device *device);
/** "emulator", or the GPU's own name. Valid as long as the device. */
const char *bsrt_device_description(const bsrt_device *device);
bsrt_status bsrt_device_set_options(bsrt_device *device, const bsrt_options *options);

/** Loads PTX text; `file_name` is what messages call it. */
bsrt_status bsrt_module_load(bsrt_device *device, const char *ptx, size_t size,
                             const char *file_name, bsrt_module **module);
void bsrt_module_close(bsrt_module *module);

bsrt_status bsrt_alloc(bsrt_device *device, size_t bytes, uint64_t *address);
bsrt_status bsrt_free(bsrt_device *device, uint64_t address);
bsrt_status bsrt_write(bsrt_device *device, uint64_t address, const void *from, size_t bytes);
bsrt_status bsrt_read(bsrt_device *device, uint64_t address, void *to, size_t bytes);

/** Encodes the BSRT_TENSOR_MAP_BYTES that a kernel takes for a map. */
bsrt_status bsrt_tensor_map_encode(bsrt_device *device, const bsrt_tensor_map *map, uint8_t *bytes);

/** Launches a kernel and waits for its end. `stats` may be NULL. */
bsrt_status bsrt_launch(bsrt_device *device, bsrt_module *module, const char *kernel,
                        const bsrt_launch_config *config, bsrt_launch_stats *stats);

/** Launches a kernel `warmup` times, then `repeat` times more one behind the other, and writes
 * the time of each of these: the GPU's own by events, host time in the emulator. */
bsrt_status bsrt_launch_timed(bsrt_device *device, bsrt_module *module, const char *kernel,
                              const bsrt_launch_config *config, uint64_t warmup, uint64_t repeat,
                              double *seconds);

/** What the driver says of a kernel for this launch. */
bsrt_status bsrt_kernel_info_get(bsrt_device *device, bsrt_module *module, const char *kernel,
                                 const bsrt_launch_config *config, bsrt_kernel_info *info);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_RUNTIME_RUNTIME_H */
