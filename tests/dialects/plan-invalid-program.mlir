// RUN: %vime-opt %s --split-input-file --verify-diagnostics
// What a program and a plan must hold together: what actions, lanes and tables name exists.

plan.program @rank0 {
  // expected-error@+1 {{'plan.lane' op is lane 0, which is the compute lane of every program}}
  plan.lane host
}

// -----

plan.program @rank0 {
  plan.lane compute
  // expected-error@+1 {{'plan.join' op is on lane 1 of 1}}
  plan.join lane 1 time 0
}

// -----

plan.program @rank0 {
  plan.lane compute
  plan.lane host
  // expected-error@+1 {{'plan.join' op is on a host lane, it needs a compute lane}}
  plan.join lane 1 time 0
}

// -----

plan.program @rank0 {
  plan.lane compute
  plan.stage model 0 stage 0
  plan.loop id 0 trips 1 start 0 period 9 {
    // expected-error@+1 {{'plan.optimize' op is of stage 1 of 1}}
    plan.optimize stage 1 lane 0 time 0
  }
}

// -----

plan.program @rank0 {
  plan.lane compute
  plan.loop id 0 trips 1 start 0 period 9 {
    plan.loop id 1 trips 1 start 0 period 3 {
      // expected-error@+1 {{'plan.join' op is on lane 4 of 1}}
      plan.join lane 4 time 0
    }
  }
}

// -----

plan.program @rank0 {
  plan.lane compute
  // expected-error@+1 {{'plan.join' op waits for lane 5 of 1}}
  plan.join lane 0 time 0 waits [5:1]
}

// -----

plan.program @rank0 {
  plan.lane compute
  plan.join lane 0 time 0
  // expected-error@+1 {{'plan.lane' op stands behind actions; lanes stand before them}}
  plan.lane host
}

// -----

plan.program @rank0 {
  plan.lane compute
  plan.join lane 0 time 0
  // expected-error@+1 {{'plan.stage' op stands behind actions; stages stand before them}}
  plan.stage model 0 stage 0
}

// -----

plan.program @rank0 {
  plan.lane compute
  // expected-error@+1 {{'plan.buffer' op does not belong in a program}}
  plan.buffer header tier device count 1 bytes 40 stride 64 offset 0
}

// -----

// expected-error@+1 {{'plan.plan' op has no mesh}}
plan.plan schedule "" compiler "" { }

// -----

plan.plan schedule "" compiler "" {
  plan.mesh pp 1 dp 1 cp 1 tp 1
  // expected-error@+1 {{'plan.mesh' op is in the plan already}}
  plan.mesh pp 1 dp 1 cp 1 tp 1
}

// -----

plan.plan schedule "" compiler "" {
  plan.mesh pp 1 dp 1 cp 1 tp 1
  // expected-error@+1 {{'plan.join' op does not belong in a plan}}
  plan.join lane 0 time 0
}

// -----

plan.plan schedule "" compiler "" {
  plan.mesh pp 2 dp 1 cp 1 tp 1
  // expected-error@+1 {{'plan.ranks' op is not about 2 ranks}}
  plan.ranks programs [0] layouts []
  plan.program @rank0 { plan.lane compute }
}

// -----

plan.plan schedule "" compiler "" {
  plan.mesh pp 1 dp 1 cp 1 tp 1
  // expected-error@+1 {{'plan.ranks' op names program 1 of 1}}
  plan.ranks programs [1] layouts []
  plan.program @rank0 { plan.lane compute }
}

// -----

plan.plan schedule "" compiler "" {
  plan.mesh pp 1 dp 1 cp 1 tp 1
  // expected-error@+1 {{'plan.ranks' op names layout 0 of 0}}
  plan.ranks programs [0] layouts [0]
  plan.program @rank0 { plan.lane compute }
}

// -----

plan.plan schedule "" compiler "" {
  plan.mesh pp 1 dp 1 cp 1 tp 1
  plan.program @rank0 {
    plan.lane compute
    // expected-error@+1 {{'plan.lane' op is of group 2 of 0}}
    plan.lane group 2
  }
}

// -----

plan.plan schedule "" compiler "" {
  plan.mesh pp 1 dp 1 cp 1 tp 1
  plan.program @rank0 {
    plan.lane compute
    // expected-error@+1 {{'plan.stage' op is of model 0 of 0}}
    plan.stage model 0 stage 0
  }
}

// -----

plan.plan schedule "" compiler "" {
  plan.mesh pp 1 dp 1 cp 1 tp 1
  plan.model null type float32 layers 1 rope_theta 1.0 norm_epsilon 1.0 stages [(first 0 end 1 embedding head)]
  plan.program @rank0 {
    plan.lane compute
    // expected-error@+1 {{'plan.stage' op is stage 1 of a model of 1}}
    plan.stage model 0 stage 1
  }
}
