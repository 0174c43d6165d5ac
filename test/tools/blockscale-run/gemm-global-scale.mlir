// D11: the global scale of a checkpoint's layer is a factor with one producer and its reciprocal
// with another; both give the same product, and a file with both is refused.

// A row of 16 nibbles 0x7 with the scale 0x7E, times ones: 16 x 6 x 448 x 2^-8 = 168.
// RUN: %python %S/Inputs/make.py %t.a.npy='np.full((1, 8), 0x22, np.uint8)' %t.sa.npy='np.full((1, 1), 0x38, np.uint8)'
// RUN: %python %S/Inputs/make.py %t.b.npy='np.full((1, 8), 0x77, np.uint8)' %t.sb.npy='np.full((1, 1), 0x7E, np.uint8)'
// RUN: %python %S/Inputs/global_scale.py %t
// RUN: blockscale-run %s --entry=f --arch=sm_100a --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.b.npy --arg=%t.sb.npy --arg=%t.modelopt.safetensors:layers.0.down:global --out=%t.d.npy
// RUN: %python %S/Inputs/expect.py %t.d.npy 'np.float32([[168]])'
// RUN: blockscale-run %s --entry=f --arch=sm_100a --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.b.npy --arg=%t.sb.npy --arg=%t.compressed.safetensors:layers.0.down:global --out=%t.d.npy
// RUN: %python %S/Inputs/expect.py %t.d.npy 'np.float32([[168]])'
// RUN: not blockscale-run %s --entry=f --arch=sm_100a --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.b.npy --arg=%t.sb.npy --arg=%t.both.safetensors:layers.0.down:global --out=%t.d.npy 2>&1 | FileCheck %s
// CHECK: safetensors: {{.*}} member 'layers.0.down' must have weight_scale_2 or weight_global_scale, whose meanings are opposite, got both

func.func @f(%a: tensor<1x16xf4E2M1FN>, %sa: tensor<1x1xi8, #blockscale.scales<ue4m3, linear>>,
             %b: tensor<1x16xf4E2M1FN>, %sb: tensor<1x1xi8, #blockscale.scales<ue4m3, linear>>,
             %g: tensor<f32>) -> tensor<1x1xf32> {
  %out = tensor.empty() : tensor<1x1xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<1x16xf4E2M1FN>, tensor<1x1xi8, #blockscale.scales<ue4m3, linear>>,
      tensor<1x16xf4E2M1FN>, tensor<1x1xi8, #blockscale.scales<ue4m3, linear>>) alpha(%g : tensor<f32>)
      outs(%out : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %d : tensor<1x1xf32>
}
