#!/bin/bash
TP=2
PP=${PP:-2}
ARGS="--num-layers 8 --hidden-size 64 --seq-length 128"
torchrun --nproc_per_node 8 train.py $ARGS --tensor-model-parallel-size $TP --pipeline-model-parallel-size ${PP} \
  --num-experts 4 --expert-model-parallel-size 2 --global-batch-size 16 --bf16
