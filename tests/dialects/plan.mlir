// RUN: %vime-opt %s | %vime-opt | FileCheck %s
// RUN: %vime-opt --mlir-print-op-generic %s | %vime-opt | FileCheck %s
// Every op of the plan dialect once, in the form in which it is printed.

// CHECK: plan.plan schedule "1f1b" compiler "0.1.0" {
plan.plan schedule "1f1b" compiler "0.1.0" {
  // CHECK-NEXT: plan.mesh pp 1 dp 1 cp 1 tp 1
  plan.mesh pp 1 dp 1 cp 1 tp 1
  // CHECK-NEXT: plan.job lines [
  // CHECK-NEXT:   "version: 1",
  // CHECK-NEXT:   "name: \22demo\22"]
  plan.job lines ["version: 1", "name: \"demo\""]
  // CHECK-NEXT: plan.model llama type float32 layers 2 hidden 64 rope_theta 10000.0 norm_epsilon 1.0e-05 checkpoint "hub" stages [(first 0 end 1 embedding), (first 1 end 2 head)]
  plan.model llama type float32 layers 2 hidden 64 rope_theta 1.0e4 norm_epsilon 1.0e-05 checkpoint "hub" stages [(first 0 end 1 embedding), (first 1 end 2 head)]
  // Two copies of a model: its stages twice.
  // CHECK-NEXT: plan.model null type float32 layers 2 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 1 embedding), (first 1 end 2 head), (first 0 end 1 embedding), (first 1 end 2 head)]
  plan.model null type float32 layers 2 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 1 embedding), (first 1 end 2 head), (first 0 end 1 embedding), (first 1 end 2 head)]
  // CHECK-NEXT: plan.data "corpus.txt" bytes 1000 hash_low 18446744073709551615 hash_high 2 sequence 128 samples 4 tokens 512 microbatches 2 batch 8
  plan.data "corpus.txt" bytes 1000 hash_low 18446744073709551615 hash_high 2 sequence 128 samples 4 tokens 512 microbatches 2 batch 8
  // CHECK-NEXT: plan.optimizer learning_rate 3.0e-04 beta1 0.9 beta2 0.999 epsilon 1.0e-08 weight_decay 0.01 clip 1.0
  plan.optimizer learning_rate 3.0e-04 beta1 0.9 beta2 0.999 epsilon 1.0e-08 weight_decay 0.01 clip 1.0
  // CHECK-NEXT: plan.checkpoint "out/demo.ckpt" every 100 keep 3
  plan.checkpoint "out/demo.ckpt" every 100 keep 3
  // CHECK-NEXT: plan.run "demo" steps 3 seed 0 export "out"
  plan.run "demo" steps 3 seed 0 export "out"
  // CHECK-NEXT: plan.limits connect_seconds 300.0 transfer_seconds 600.0 memory_bytes 0
  plan.limits connect_seconds 300.0 transfer_seconds 600.0 memory_bytes 0
  // CHECK-NEXT: plan.predictions step_units 9.0 bubble 0.25 peak_live 2
  plan.predictions step_units 9.0 bubble 0.25 peak_live 2
  // CHECK-NEXT: plan.group "step" flow control operation broadcast axes 1 root 0 message byte fixed 40 members []
  plan.group "step" flow control operation broadcast axes 1 root 0 message byte fixed 40 members []
  // CHECK-NEXT: plan.connect pairs [0:1, 2:3]
  plan.connect pairs [0:1, 2:3]
  // CHECK-NEXT: plan.origin of backward_input "pipeline.schedule" line 7 column 23 length 4
  plan.origin of backward_input "pipeline.schedule" line 7 column 23 length 4
  // CHECK-NEXT: plan.ranks programs [0] layouts [0]
  plan.ranks programs [0] layouts [0]
  // CHECK-NEXT: plan.layout @layout0 device 320 host 64 {
  // CHECK-NEXT:   plan.buffer header tier host count 1 bytes 40 stride 64 offset 0
  // CHECK-NEXT:   plan.buffer output stage 0 tier device count 2 bytes 40 stride 64 offset 0
  // CHECK-NEXT: }
  plan.layout @layout0 device 320 host 64 {
    plan.buffer header tier host count 1 bytes 40 stride 64 offset 0
    plan.buffer output stage 0 tier device count 2 bytes 40 stride 64 offset 0
  }
  // CHECK-NEXT: plan.program @rank0 {
  plan.program @rank0 {
    // CHECK-NEXT: plan.lane compute
    plan.lane compute
    // CHECK-NEXT: plan.lane host
    plan.lane host
    // CHECK-NEXT: plan.lane io
    plan.lane io
    // CHECK-NEXT: plan.lane send flow forward peer pp plus 1 message float32 per_token 256 slots 2
    plan.lane send flow forward peer pp plus 1 message float32 per_token 256 slots 2
    // CHECK-NEXT: plan.lane receive flow data peer pp 0 message int32 fixed 4096
    plan.lane receive flow data peer pp 0 message int32 fixed 4096
    // CHECK-NEXT: plan.lane group 0
    plan.lane group 0
    // CHECK-NEXT: plan.stage model 0 stage 1
    plan.stage model 0 stage 1
    // CHECK-NEXT: plan.initialize stage 0 lane 0 time 0 uses [0, 1, _]
    plan.initialize stage 0 lane 0 time 0 uses [0, 1, _]
    // CHECK-NEXT: plan.loop id 0 trips 3 start 1 period 50 {
    plan.loop id 0 trips 3 start 1 period 50 {
      // CHECK-NEXT: plan.forward stage 0 microbatch 3 lane 0 time 12 waits [3:1, 5:2] uses [0, 1, 7, 9, 14, _, 20, _, _]
      plan.forward stage 0 microbatch 3 lane 0 time 12 waits [3:1, 5:2] uses [0, 1, 7, 9, 14, _, 20, _, _]
      // CHECK-NEXT: plan.loss stage 0 microbatch 3 lane 0 time 13 waits [_, 4:1]
      plan.loss stage 0 microbatch 3 lane 0 time 13 waits [_, 4:1]
      // CHECK-NEXT: plan.backward stage 0 microbatch 3 lane 0 time 14 immediate 1
      plan.backward stage 0 microbatch 3 lane 0 time 14 immediate 1
      // CHECK-NEXT: plan.backward_input stage 0 microbatch 3 lane 0 time 15
      plan.backward_input stage 0 microbatch 3 lane 0 time 15
      // CHECK-NEXT: plan.backward_weight stage 0 microbatch 3 lane 0 time 16
      plan.backward_weight stage 0 microbatch 3 lane 0 time 16
      // CHECK-NEXT: plan.send stage 0 microbatch 3 lane 3 time 17 immediate 13 flags [signalled, group_begin]
      plan.send stage 0 microbatch 3 lane 3 time 17 immediate 13 flags [signalled, group_begin]
      // CHECK-NEXT: plan.receive stage 0 microbatch 0 lane 4 time 18 flags [group_end]
      plan.receive stage 0 microbatch 0 lane 4 time 18 flags [group_end]
      // CHECK-NEXT: plan.broadcast lane 5 time 19 uses [0]
      plan.broadcast lane 5 time 19 uses [0]
      // CHECK-NEXT: plan.copy microbatch 2 lane 0 time 20 advance 1 uses [3, 4]
      plan.copy microbatch 2 lane 0 time 20 advance 1 uses [3, 4]
      // CHECK-NEXT: plan.scale_gradients stage 0 lane 0 time 21 guard 2
      plan.scale_gradients stage 0 lane 0 time 21 guard 2
      // CHECK-NEXT: plan.square_norm stage 0 lane 0 time 22
      plan.square_norm stage 0 lane 0 time 22
      // CHECK-NEXT: plan.clip lane 0 time 24 uses [7, 5]
      plan.clip lane 0 time 24 uses [7, 5]
      // CHECK-NEXT: plan.optimize stage 0 lane 0 time 25
      plan.optimize stage 0 lane 0 time 25
      // CHECK-NEXT: plan.decide lane 1 time 26
      plan.decide lane 1 time 26
      // CHECK-NEXT: plan.load lane 1 time 27
      plan.load lane 1 time 27
      // CHECK-NEXT: plan.join lane 0 time 28 waits [1:1, 3:1, 4:1, 5:1023]
      plan.join lane 0 time 28 waits [1:1, 3:1, 4:1, 5:1023]
      // CHECK-NEXT: plan.measure lane 0 time 29 flags [host_blocking, skip_if_empty, last_use]
      plan.measure lane 0 time 29 flags [host_blocking, skip_if_empty, last_use]
      // CHECK-NEXT: plan.loop id 1 trips 8 start 30 period 1 {
      // CHECK-NEXT:   plan.join lane 0 time 0
      // CHECK-NEXT: }
      plan.loop id 1 trips 8 start 30 period 1 {
        plan.join lane 0 time 0
      }
      // CHECK-NEXT: plan.report lane 1 time 31
      plan.report lane 1 time 31
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: plan.export_shard stage 0 lane 2 time -3
    plan.export_shard stage 0 lane 2 time -3
    // CHECK-NEXT: plan.gather lane 5 time 1
    plan.gather lane 5 time 1
    // CHECK-NEXT: plan.all_gather lane 5 time 2
    plan.all_gather lane 5 time 2
    // CHECK-NEXT: plan.snapshot stage 0 lane 0 time 2 uses [0, 1, 2, 3]
    plan.snapshot stage 0 lane 0 time 2 uses [0, 1, 2, 3]
    // CHECK-NEXT: plan.checkpoint_shard stage 0 lane 2 time 2
    plan.checkpoint_shard stage 0 lane 2 time 2
    // CHECK-NEXT: plan.checkpoint_commit lane 2 time 3
    plan.checkpoint_commit lane 2 time 3
    // CHECK-NEXT: plan.export_commit lane 1 time 3
    plan.export_commit lane 1 time 3
  // CHECK-NEXT: }
  }
}
