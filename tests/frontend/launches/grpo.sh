#!/bin/bash
# launches a run
set -ex
BASE=/root/models
NUM_GPUS=4
CKPT_ARGS=(
   --hf-checkpoint ${BASE}/Qwen3-4B
   --ref-load ${BASE}/Qwen3-4B_torch_dist
   --save ${BASE}/out/
   --save-interval 20
)
ROLLOUT_ARGS=(
   --prompt-data "$BASE/dapo math/train.jsonl"
   --input-key prompt
   --label-key label
   --apply-chat-template
   --rollout-shuffle
   --rm-type deepscaler
   --num-rollout 3000
   --rollout-batch-size 32
   --n-samples-per-prompt 8
   --rollout-max-response-len 8192
   --rollout-max-prompt-len 1024
   --rollout-temperature 0.8
   --rollout-stop-token-ids 10 59
   --over-sampling-batch-size 64
   --dynamic-sampling-filter-path slime.rollout.filter_hub.dynamic_sampling_filters.check_reward_nonzero_std
   --global-batch-size 256
   --balance-data
)
EVAL_ARGS=(
   --eval-interval 20
   --eval-prompt-data aime ${BASE}/aime-2024.jsonl
   --n-samples-per-eval-prompt 16
   --eval-max-response-len 16384
   --eval-top-p 0.7
)
GRPO_ARGS=(
   --advantage-estimator grpo
   --use-kl-loss
   --kl-loss-coef 0.01
   --kl-loss-type low_var_kl
   --entropy-coef 0.00
   --eps-clip 0.2
   --eps-clip-high 0.28
)
OPTIMIZER_ARGS=( --optimizer adam --lr 1e-6 --lr-decay-style constant --weight-decay 0.1 --adam-beta1 0.9 --adam-beta2 0.98 )
ray job submit --address="http://127.0.0.1:8265" \
   --runtime-env-json='{"env_vars": {"A": "--not-a-flag"}}' \
   -- python3 train.py \
   --actor-num-nodes 1 \
   --actor-num-gpus-per-node ${NUM_GPUS} \
   --rollout-num-gpus 2 \
   --pipeline-model-parallel-size 2 \
   --use-dynamic-batch-size --max-tokens-per-gpu 9216 \
   ${CKPT_ARGS[@]} ${ROLLOUT_ARGS[@]}
