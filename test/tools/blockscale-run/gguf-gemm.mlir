// Weights of a real layer, as Q4_K blocks of a .gguf file, multiplied where they lie. PyPI gguf
// reads and decodes them by itself; activations lose up to 1/254 of a chunk's largest.

// RUN: blockscale-gguf --out=%t.gguf --q4_K=%testdata/minilm_ffn.safetensors:ffn.down.weight
// RUN: %python %S/Inputs/make.py %t.x.npy='np.random.default_rng(1).standard_normal((5, 1536)).astype(np.float32)'
// RUN: blockscale-run %s --entry=down --arch=sm_90a --arg=%t.x.npy --arg=%t.gguf:ffn.down.weight --out=%t.d.npy --check --seeds=1 | FileCheck %s
// CHECK: kernel gemm_0: q4_K x q8_1_tile 5x384x1536
// CHECK-SAME: of bound
// RUN: %python %S/Inputs/gguf_product.py %t.gguf ffn.down.weight %t.x.npy %t.d.npy | FileCheck %s --check-prefix=EXACT
// EXACT: relative error 0.00{{[1-6]}}

func.func @down(%x: tensor<5x1536xf32>, %w: tensor<384x864xi8, #blockscale.blocks<q4_K>>) -> tensor<5x384xf32> {
  %c = tensor.empty() : tensor<5x384xf32>
  %d = blockscale.gemm ins(%x, %w : tensor<5x1536xf32>, tensor<384x864xi8, #blockscale.blocks<q4_K>>)
       outs(%c : tensor<5x384xf32>) -> tensor<5x384xf32>
  return %d : tensor<5x384xf32>
}

// A tensor of another shape is refused.
// RUN: not blockscale-run %s --entry=down --arch=sm_90a --arg=%t.x.npy --arg=%testdata/gguf/types.gguf:f32 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: blockscale-run: error: run: argument 1 of @down must be u8 [384, 864], got f32 [2, 3]
