// A job of two ranks and two microbatches, as the front end resolves it.
job.job "job.yaml" {
  job.field "name" "job" derived from "the file's name" at "job.yaml" line 1 column 1 length 7
  job.field "cluster.ranks" "2" given at "job.yaml" line 2 column 20
  job.field "cluster.device" "cpu" default at "job.yaml" line 2 column 1 length 7
  job.field "cluster.kernels" "native" default at "job.yaml" line 2 column 1 length 7
  job.field "models.policy.family" "llama" given at "job.yaml" line 4 column 21 length 5
  job.field "models.policy.layers" "8" given at "job.yaml" line 4 column 36
  job.field "models.policy.hidden" "64" given at "job.yaml" line 4 column 47 length 2
  job.field "models.policy.heads" "4" given at "job.yaml" line 4 column 58
  job.field "models.policy.kv_heads" "4" derived from "models.policy.heads" at "job.yaml" line 4 column 58
  job.field "models.policy.head_width" "16" derived from "models.policy.hidden, models.policy.heads" at "job.yaml" line 4 column 47 length 2
  job.field "models.policy.ffn" "172" given at "job.yaml" line 4 column 66 length 3
  job.field "models.policy.vocab" "256" given at "job.yaml" line 4 column 78 length 3
  job.field "models.policy.dtype" "float32" default at "job.yaml" line 4 column 3 length 6
  job.field "models.policy.rope_theta" "10000" default at "job.yaml" line 4 column 3 length 6
  job.field "models.policy.norm_epsilon" "1e-05" default at "job.yaml" line 4 column 3 length 6
  job.field "roles.actor.model" "policy" given at "job.yaml" line 6 column 20 length 6
  job.field "roles.actor.ranks" "0-1" derived from "cluster.ranks" at "job.yaml" line 2 column 20
  job.field "roles.actor.parallel.pp" "2" derived from "roles.actor.ranks" at "job.yaml" line 2 column 20
  job.field "roles.actor.parallel.dp" "1" default at "job.yaml" line 6 column 3 length 5
  job.field "pipeline.schedule" "1f1b" given at "job.yaml" line 7 column 23 length 4
  job.field "pipeline.chunks" "1" derived from "pipeline.schedule" at "job.yaml" line 7 column 23 length 4
  job.field "pipeline.microbatches" "2" given at "job.yaml" line 7 column 43
  job.field "pipeline.microbatch" "4 samples" given at "job.yaml" line 7 column 58 length 9
  job.field "data.text" "corpus.txt" given at "job.yaml" line 8 column 19 length 10
  job.field "data.sequence" "128 tokens" given at "job.yaml" line 8 column 41 length 10
  job.field "optimizer.kind" "adamw" default at "job.yaml" line 9 column 1 length 9
  job.field "optimizer.lr" "0.0003" given at "job.yaml" line 9 column 17 length 6
  job.field "optimizer.betas" "[0.9, 0.999]" default at "job.yaml" line 9 column 1 length 9
  job.field "optimizer.epsilon" "1e-08" default at "job.yaml" line 9 column 1 length 9
  job.field "optimizer.weight_decay" "0.01" default at "job.yaml" line 9 column 1 length 9
  job.field "optimizer.clip" "1" default at "job.yaml" line 9 column 1 length 9
  job.field "run.steps" "200" given at "job.yaml" line 10 column 20 length 3
  job.field "run.seed" "0" default at "job.yaml" line 10 column 1 length 3
  job.field "limits.connect" "300s" default at "job.yaml" line 1 column 1 length 7
  job.field "limits.transfer" "600s" default at "job.yaml" line 1 column 1 length 7
}
