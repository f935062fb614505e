// RUN: %vime-opt %s --split-input-file --verify-diagnostics
// Structure and settings, an error for each op that has a verifier.

// expected-error@+1 {{'plan.mesh' op has an axis of size 0}}
plan.mesh pp 4 dp 0 cp 1 tp 1

// -----

// expected-error@+1 {{'plan.group' op runs along no known axis: `axes` is 32}}
plan.group "step" flow control operation broadcast axes 32 root 0 message byte fixed 40 members []

// -----

// expected-error@+1 {{'plan.group' op has a message that depends on tokens; groups carry fixed bytes}}
plan.group "step" flow control operation broadcast axes 1 root 0 message byte per_token 4 members []

// -----

// expected-error@+1 {{'plan.connect' op needs rank 1 twice in one round}}
plan.connect pairs [0:1, 1:2]

// -----

// expected-error@+1 {{'plan.connect' op has the pair 1:0, the lower rank stands first}}
plan.connect pairs [1:0]

// -----

// expected-error@+1 {{'plan.lane' op carries messages of no bytes}}
plan.lane send flow forward peer pp plus 1 message float32

// -----

// expected-error@+1 {{'plan.lane' op leads along another axis than pp}}
plan.lane send flow forward peer dp plus 1 message float32 fixed 4

// -----

// expected-error@+1 {{`sideways` is none of compute, copy.in, copy.out, io, host, send, receive, group}}
plan.lane sideways

// -----

// expected-error@+1 {{'plan.buffer' op has no slot}}
plan.buffer header tier device count 0 bytes 40 stride 64 offset 0

// -----

// expected-error@+1 {{'plan.buffer' op has slots of 40 bytes, 32 apart}}
plan.buffer header tier device count 2 bytes 40 stride 32 offset 0

// -----

plan.layout @layout0 device 0 host 0 {
  // expected-error@+1 {{'plan.lane' op is no buffer: a layout holds nothing else}}
  plan.lane compute
}

// -----

plan.loop id 0 trips 1 start 0 period 1 {
  // expected-error@+1 {{'plan.lane' op is no action: a loop holds those, loops and cases}}
  plan.lane compute
}

// -----

plan.loop id 0 trips 2 start 0 period 9 {
  // expected-error@+1 {{'plan.loop' op ends on a condition, which only a loop over steps may}}
  plan.loop id 1 trips 1 start 0 period 9 until 1 { }
}

// -----

// expected-error@+1 {{'plan.case' op is empty}}
plan.case condition 1 { }

// -----

plan.case condition 1 {
  // expected-error@+1 {{'plan.case' op is no action: a case holds those and loops}}
  plan.case condition 2 { }
}

// -----

// expected-error@+1 {{'plan.decision' op has no value}}
plan.decision evaluate values []

// -----

// expected-error@+1 {{'plan.decision' op has values that do not ascend}}
plan.decision microbatches values [8, 3]

// -----

plan.loop id 0 trips 1 start 0 period 9 {
  plan.loop id 1 trips 1 start 0 period 9 {
    // expected-error@+1 {{'plan.loop' op lies in two others: steps, and in them microbatches, are all there is}}
    plan.loop id 2 trips 1 start 0 period 9 { }
  }
}

// -----

// expected-error@+1 {{'plan.loop' op has period 0, time must pass}}
plan.loop id 0 trips 1 start 0 period 0 { }

// -----

// expected-error@+1 {{'plan.model' op stage 1 has layers 2 to 4, expected it to begin at layer 1}}
plan.model null type float32 layers 4 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 1 embedding), (first 2 end 4 head)]

// -----

// expected-error@+1 {{'plan.model' op stage 1: the first stage embeds, the last one has the head}}
plan.model null type float32 layers 4 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 1 embedding), (first 1 end 4)]

// -----

// expected-error@+1 {{'plan.model' op has 4 layers, its stages 1}}
plan.model null type float32 layers 4 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 1 embedding head)]

// -----

// A second copy of the model: begins in its middle, cut elsewhere, without embedding, without head, half.
// expected-error@+1 {{'plan.model' op stage 2 has layers 1 to 2, expected it to begin at layer 0}}
plan.model null type float32 layers 4 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 2 embedding), (first 2 end 4 head), (first 1 end 2 embedding), (first 2 end 4 head)]

// -----

// expected-error@+1 {{'plan.model' op stage 2 differs from stage 0, of which it is a copy}}
plan.model null type float32 layers 4 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 2 embedding), (first 2 end 4 head), (first 0 end 3 embedding), (first 3 end 4 head)]

// -----

// expected-error@+1 {{'plan.model' op stage 2: the first stage embeds, the last one has the head}}
plan.model null type float32 layers 4 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 2 embedding), (first 2 end 4 head), (first 0 end 2), (first 2 end 4 head)]

// -----

// expected-error@+1 {{'plan.model' op stage 3: the first stage embeds, the last one has the head}}
plan.model null type float32 layers 4 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 2 embedding), (first 2 end 4 head), (first 0 end 2 embedding), (first 2 end 4)]

// -----

// expected-error@+1 {{'plan.model' op stage 2 differs from stage 0, of which it is a copy}}
plan.model null type float32 layers 4 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 2 embedding), (first 2 end 4 head), (first 0 end 2 embedding head)]

// -----

// expected-error@+1 {{'plan.origin' op has a line without a column: both count from 1}}
plan.origin of forward "name" line 3 column 0 length 1

// -----

// expected-error@+1 {{`guess` is none of forward, loss,}}
plan.origin of guess "name" line 3 column 1 length 1
