#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a tiny GPT on processors, with the communication of a large one: tensor, sequence, pipeline, data and expert
parallelism in plain torch.distributed, in the order in which Megatron-LM communicates. For recording, and for measuring orders
of ranks, without GPUs. The arguments are those of Megatron-LM that `rankloom gen llm` reads.

    mpirun -n 8 python3 tiny_gpt.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2   # 8 / (2·2) = 2 copies

The backend is MPI if mpirun started the program and torch has this backend, otherwise gloo, started by mpirun or by RANK,
WORLD_SIZE, MASTER_ADDR and MASTER_PORT. Numbers have single precision. Weights and samples are the same for any number of
ranks, and so is the loss. The model has neither biases nor positions, the samples are random numbers, and tokens choose their experts
in turn. A reduce-scatter is an all-to-all with a local sum, because some versions of the backends have none.
"""

import argparse
import os
import socket
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread per rank; read when torch is loaded
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import torch.utils.checkpoint  # noqa: E402
from torch.autograd import Function  # noqa: E402


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter)

    def number(name, value, text):
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N", help=f"{text} ({value})")

    number("tensor-model-parallel-size", 1, "ranks of a tensor group")
    number("pipeline-model-parallel-size", 1, "pipeline stages")
    number("expert-model-parallel-size", 1, "ranks that share the experts of a layer")
    number("num-layers", 4, "layers")
    number("hidden-size", 64, "hidden size")
    number("num-attention-heads", 4, "attention heads")
    number("vocab-size", 512, "size of the vocabulary")
    number("seq-length", 32, "tokens per sample")
    number("micro-batch-size", 1, "samples per micro-batch")
    number("global-batch-size", 8, "samples per step")
    number("num-experts", 0, "experts per layer; 0: none")
    number("moe-router-topk", 2, "experts per token")
    number("zero-stage", 0, "1: each copy updates a part of the parameters; 2: also keeps a part of the gradients; 3: also of the parameters")
    number("train-iters", 1, "steps; the times of all but the first are printed")
    parser.add_argument("--sequence-parallel", action="store_true", help="tensor groups exchange parts of the sequence")
    parser.add_argument("--use-distributed-optimizer", action="store_true", help="as --zero-stage 1")
    parser.add_argument("--untie-embeddings-and-output-weights", action="store_true", help="the output has weights of its own")
    parser.add_argument("--recompute-granularity", choices=["full"], help="compute the activations of layers again in the backward pass")
    parser.add_argument("--backend", choices=["mpi", "gloo"], help="of torch.distributed")
    parser.add_argument("--profile", metavar="DIRECTORY", help="write the trace of torch.profiler and the execution trace of every rank")
    return parser.parse_args()


def start_processes(backend):
    """Joins the processes that mpirun, srun or a script with RANK and WORLD_SIZE has started."""
    variables = os.environ
    for rank, size in (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")):
        if "RANK" not in variables and rank in variables and backend != "mpi":
            variables["RANK"], variables["WORLD_SIZE"] = variables[rank], variables[size]
    if backend == "gloo":
        variables.setdefault("RANK", "0")
        variables.setdefault("WORLD_SIZE", "1")
        variables.setdefault("MASTER_ADDR", "localhost")
        variables.setdefault("MASTER_PORT", "29500")
        variables.setdefault("USE_LIBUV", "0")  # Debian builds torch without libuv
    dist.init_process_group(backend)


class Layout:
    """The groups of this rank. The tensor index varies fastest, then the data index, then the stage."""

    def __init__(self, options):
        self.tensor, self.stages, self.expert = options.tensor_model_parallel_size, options.pipeline_model_parallel_size, options.expert_model_parallel_size
        self.rank, ranks = dist.get_rank(), dist.get_world_size()
        of_a_copy = self.tensor * self.stages
        if ranks % of_a_copy or (ranks // of_a_copy) % self.expert:
            raise SystemExit(f"tiny_gpt.py: {ranks} ranks are not a multiple of the degrees of parallelism")
        self.data = ranks // of_a_copy
        self.tensor_rank = self.rank % self.tensor
        self.data_rank = self.rank // self.tensor % self.data
        self.stage = self.rank // (self.tensor * self.data)
        at = lambda stage, data, tensor: (stage * self.data + data) * self.tensor + tensor  # noqa: E731
        stages, datas, tensors = range(self.stages), range(self.data), range(self.tensor)
        experts, copies = range(self.expert), range(self.data // self.expert)
        self.tensor_group = self.make_groups([[at(p, d, t) for t in tensors] for p in stages for d in datas])
        self.data_group = self.make_groups([[at(p, d, t) for d in datas] for p in stages for t in tensors])
        self.embedding_group = self.make_groups([[at(p, d, t) for p in (0, self.stages - 1)] for d in datas for t in tensors]) if self.stages > 1 else None
        self.expert_group = self.make_groups([[at(p, c * self.expert + e, t) for e in experts] for p in stages for c in copies for t in tensors])
        self.expert_copies = self.make_groups([[at(p, c * self.expert + e, t) for c in copies] for p in stages for e in experts for t in tensors])
        self.next, self.previous = self.rank + self.tensor * self.data, self.rank - self.tensor * self.data

    def make_groups(self, groups):
        """The group that contains this rank; None if it would have one rank."""
        mine = None
        for members in groups:
            if len(members) == 1:
                continue
            group = dist.new_group(members)
            if self.rank in members:
                mine = group
        return mine

    @property
    def is_first(self):
        return self.stage == 0

    @property
    def is_last(self):
        return self.stage == self.stages - 1


# Collectives; a group of one rank is None.


def size_of(group):
    return dist.get_world_size(group) if group is not None else 1


def all_reduce(tensor, group, operation=dist.ReduceOp.SUM):
    if group is not None:
        dist.all_reduce(tensor, operation, group=group)
    return tensor


def all_gather(tensor, group):
    """The tensors of all members, one after another."""
    if group is None:
        return tensor
    parts = [torch.empty_like(tensor) for _ in range(size_of(group))]
    dist.all_gather(parts, tensor.contiguous(), group=group)
    return torch.cat(parts)


def all_to_all(tensor, group):
    if group is None:
        return tensor
    received = torch.empty_like(tensor)
    dist.all_to_all_single(received, tensor.contiguous(), group=group)
    return received


def reduce_scatter(tensor, group):
    """This rank's part of the sum over the members."""
    if group is None:
        return tensor
    return all_to_all(tensor, group).view(size_of(group), -1).sum(0).view(-1, *tensor.shape[1:])


# Communication in the forward pass, and what it becomes in the backward pass.


class CopyToTensorGroup(Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return all_reduce(gradient.clone(), ctx.group), None


class ReduceFromTensorGroup(Function):
    @staticmethod
    def forward(ctx, x, group):
        return all_reduce(x.clone(), group)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class GatherTokens(Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return all_gather(x, group)

    @staticmethod
    def backward(ctx, gradient):
        return reduce_scatter(gradient, ctx.group), None


class ReduceScatterTokens(Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return reduce_scatter(x, group)

    @staticmethod
    def backward(ctx, gradient):
        return all_gather(gradient, ctx.group), None


class ExchangeTokens(Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return all_to_all(x, group)

    @staticmethod
    def backward(ctx, gradient):
        return all_to_all(gradient, ctx.group), None


class GatheredLinear(Function):
    """A linear layer of a gathered sequence. It keeps only the part of this rank, and gathers again in the backward pass."""

    @staticmethod
    def forward(ctx, x, weight, group):
        ctx.save_for_backward(x, weight)
        ctx.group = group
        return F.linear(all_gather(x, group), weight)

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        complete = all_gather(x, ctx.group)
        of_x = reduce_scatter(gradient @ weight, ctx.group)
        return of_x, gradient.flatten(0, -2).T @ complete.flatten(0, -2), None


class TensorParallel(torch.nn.Module):
    """A part of the model whose matrices are divided among the ranks of a tensor group."""

    def __init__(self, options, layout):
        super().__init__()
        self.options, self.layout, self.group = options, layout, layout.tensor_group
        self.sequence_parallel = options.sequence_parallel and self.group is not None

    def weight(self, name, rows, columns, split, is_expert=False):
        """This rank's part of a matrix that depends only on its name."""
        generator = torch.Generator().manual_seed(sum(ord(letter) * 31**i for i, letter in enumerate(name)) % 2**31)
        complete = torch.randn(rows, columns, generator=generator) * 0.5 / columns**0.5
        parameter = torch.nn.Parameter(complete.chunk(self.layout.tensor, split)[self.layout.tensor_rank].clone())
        parameter.is_expert = is_expert
        return parameter

    def norm(self):
        parameter = torch.nn.Parameter(torch.ones(self.options.hidden_size))
        parameter.is_expert, parameter.is_norm = False, True
        return parameter

    def normalise(self, x, weight):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight

    def column_linear(self, x, weight):
        """The weights have a part of the output's elements."""
        if self.sequence_parallel:
            return GatheredLinear.apply(x, weight, self.group)
        return F.linear(CopyToTensorGroup.apply(x, self.group), weight)

    def row_linear(self, x, weight):
        """The weights have a part of the input's elements."""
        return self.reduce(F.linear(x, weight))

    def reduce(self, x):
        return (ReduceScatterTokens if self.sequence_parallel else ReduceFromTensorGroup).apply(x, self.group)


class Embedding(TensorParallel):
    def __init__(self, options, layout):
        super().__init__(options, layout)
        self.words = self.weight("embedding", options.vocab_size, options.hidden_size, 0)

    def forward(self, tokens):
        rows = self.words.shape[0]
        mine = tokens - rows * self.layout.tensor_rank
        elsewhere = (mine < 0) | (mine >= rows)
        return self.reduce(F.embedding(mine.masked_fill(elsewhere, 0), self.words).masked_fill(elsewhere.unsqueeze(-1), 0))


class Layer(TensorParallel):
    def __init__(self, options, layout, number):
        super().__init__(options, layout)
        hidden = options.hidden_size
        self.heads = options.num_attention_heads // layout.tensor
        self.norms = torch.nn.ParameterList([self.norm(), self.norm()])
        self.queries_keys_values = torch.nn.Parameter(torch.cat([self.weight(f"{part} {number}", hidden, hidden, 0) for part in ("query", "key", "value")]))
        self.queries_keys_values.is_expert = False
        self.output = self.weight(f"output {number}", hidden, hidden, 1)
        experts = range(options.num_experts)
        if experts:  # those of this rank
            each = len(experts) // layout.expert
            self.mine = experts[layout.data_rank % layout.expert * each:][:each]
        names = [f"{number} expert {expert}" for expert in self.mine] if experts else [str(number)]
        self.into = torch.nn.ParameterList([self.weight(f"into {name}", 4 * hidden, hidden, 0, bool(experts)) for name in names])
        self.out_of = torch.nn.ParameterList([self.weight(f"out of {name}", hidden, 4 * hidden, 1, bool(experts)) for name in names])

    def forward(self, x):
        x = x + self.attention(self.normalise(x, self.norms[0]))
        y = self.normalise(x, self.norms[1])
        if self.options.num_experts:
            return x + self.experts(y)
        return x + self.row_linear(F.gelu(self.column_linear(y, self.into[0])), self.out_of[0])

    def attention(self, x):
        mixed = self.column_linear(x, self.queries_keys_values)
        tokens, samples, _ = mixed.shape
        query, key, value = (part.view(tokens, samples, self.heads, -1).permute(1, 2, 0, 3) for part in mixed.chunk(3, -1))
        scores = query @ key.transpose(-1, -2) / query.shape[-1]**0.5
        future = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
        attended = scores.masked_fill(future, float("-inf")).softmax(-1) @ value
        return self.row_linear(attended.permute(2, 0, 1, 3).reshape(tokens, samples, -1), self.output)

    def experts(self, x):
        """Tokens go to the ranks of their experts; the ranks of a tensor group, which share these experts, gather them."""
        shape, k, experts = x.shape, self.options.moe_router_topk, self.options.num_experts
        tokens = x.flatten(0, 1)
        chosen = (torch.arange(len(tokens) * k) + self.layout.tensor_rank * len(tokens) * k) % experts
        by_expert = torch.argsort(chosen, stable=True)
        received = ExchangeTokens.apply(tokens.repeat_interleave(k, 0)[by_expert], self.layout.expert_group)
        gathered = GatherTokens.apply(received, self.group) if self.group is not None else received
        # Every sender's tokens are in the order of the experts.
        of_expert = gathered.view(-1, len(self.mine), len(chosen) // experts, shape[-1])
        results = torch.stack([F.linear(F.gelu(F.linear(of_expert[:, i], self.into[i])), self.out_of[i]) for i in range(len(self.mine))], 1)
        results = results.reshape(gathered.shape)
        if self.group is not None:
            results = ReduceScatterTokens.apply(results, self.group)
        returned = ExchangeTokens.apply(results, self.layout.expert_group)
        back = torch.empty_like(by_expert)
        back[by_expert] = torch.arange(len(by_expert))
        return returned[back].view(len(tokens), k, -1).mean(1).view(shape)


class CrossEntropy(Function):
    """Of logits whose vocabulary is divided among the ranks of a tensor group."""

    @staticmethod
    def forward(ctx, logits, targets, group, first_word):
        largest = all_reduce(logits.max(-1).values, group, dist.ReduceOp.MAX)
        logits = logits - largest.unsqueeze(-1)
        mine = targets - first_word
        elsewhere = (mine < 0) | (mine >= logits.shape[-1])
        mine = mine.masked_fill(elsewhere, 0)
        predicted = all_reduce(logits.gather(-1, mine.unsqueeze(-1)).squeeze(-1).masked_fill(elsewhere, 0), group)
        exponentials = logits.exp()
        total = all_reduce(exponentials.sum(-1), group)
        ctx.save_for_backward(exponentials / total.unsqueeze(-1), mine, elsewhere)
        return (total.log() - predicted).mean()

    @staticmethod
    def backward(ctx, gradient):
        probabilities, mine, elsewhere = ctx.saved_tensors
        of_logits = probabilities.scatter_add(-1, mine.unsqueeze(-1), (elsewhere.float() - 1).unsqueeze(-1))
        return of_logits * (gradient / mine.numel()), None, None, None


class Output(TensorParallel):
    def __init__(self, options, layout, words):
        super().__init__(options, layout)
        self.last_norm = self.norm()
        name = "output" if options.untie_embeddings_and_output_weights else "embedding"
        self.words = words if words is not None else self.weight(name, options.vocab_size, options.hidden_size, 0)

    def forward(self, x, targets):
        logits = self.column_linear(self.normalise(x, self.last_norm), self.words)
        return CrossEntropy.apply(logits, targets, self.group, self.words.shape[0] * self.layout.tensor_rank)


class Stage(torch.nn.Module):
    """The layers of a pipeline stage, with the embedding on the first one and the output on the last one."""

    def __init__(self, options, layout):
        super().__init__()
        self.options, self.layout = options, layout
        each, longer = divmod(options.num_layers, layout.stages)
        first = layout.stage * each + min(layout.stage, longer)
        self.embedding = Embedding(options, layout) if layout.is_first else None
        self.layers = torch.nn.ModuleList(Layer(options, layout, first + i) for i in range(each + (layout.stage < longer)))
        shared = self.embedding.words if layout.is_first and not options.untie_embeddings_and_output_weights else None
        self.output = Output(options, layout, shared) if layout.is_last else None

    def forward(self, x, tokens, targets):
        if self.embedding is not None:
            x = self.embedding(tokens)
        for layer in self.layers:
            if self.options.recompute_granularity:
                x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=True)  # which repeats all of the layer
            else:
                x = layer(x)
        return self.output(x, targets) if self.output is not None else x


class Parameters:
    """The parameters that the ranks of a group have in common, as one vector, with their gradients."""

    def __init__(self, parameters, group, zero_stage):
        self.group, self.zero_stage, members = group, zero_stage, size_of(group)
        length = sum(parameter.numel() for parameter in parameters)
        length += -length % members
        self.values, self.gradients = torch.zeros(length), torch.zeros(length)
        begin = 0
        for parameter in parameters:
            end = begin + parameter.numel()
            self.values[begin:end] = parameter.data.flatten()
            parameter.data = self.values[begin:end].view_as(parameter)
            parameter.grad = self.gradients[begin:end].view_as(parameter)
            begin = end
        mine = dist.get_rank(group) if group is not None else 0
        self.mine = slice(mine * length // members, (mine + 1) * length // members)
        self.sum = torch.zeros(length // members)
        self.forget()

    def gather(self):
        self.values.copy_(all_gather(self.values[self.mine].clone(), self.group))

    def before_pass(self):
        if self.zero_stage == 3:
            self.gather()

    def forget(self):
        """With stage 3, a rank keeps only its part between passes."""
        if self.zero_stage == 3 and self.group is not None:
            kept = self.values[self.mine].clone()
            self.values.fill_(float("nan"))
            self.values[self.mine] = kept

    def reduce(self):
        """Sums the gradients of the ranks."""
        if self.zero_stage == 0:
            all_reduce(self.gradients, self.group)
        else:
            self.sum += reduce_scatter(self.gradients, self.group)
            self.gradients.zero_()

    def update(self, rate):
        if self.zero_stage == 0:
            self.values -= rate * self.gradients
            self.gradients.zero_()
            return
        self.values[self.mine] -= rate * self.sum
        self.sum.zero_()
        if self.zero_stage < 3:
            self.gather()


class Training:
    def __init__(self, options, layout):
        self.options, self.layout = options, layout
        self.zero_stage = options.zero_stage or int(options.use_distributed_optimizer)
        self.micro_batches = options.global_batch_size // (options.micro_batch_size * layout.data)
        self.stage = Stage(options, layout)
        tokens = options.seq_length // layout.tensor if options.sequence_parallel else options.seq_length
        self.shape = (tokens, options.micro_batch_size, options.hidden_size)
        parameters = list(self.stage.parameters())
        self.norms = [parameter for parameter in parameters if getattr(parameter, "is_norm", False)]
        self.shared = [Parameters([p for p in parameters if layout.expert == 1 or not p.is_expert], layout.data_group, self.zero_stage)]
        if options.num_experts and layout.expert > 1:
            self.shared.append(Parameters([p for p in parameters if p.is_expert], layout.expert_copies, self.zero_stage))
        self.is_tied = not options.untie_embeddings_and_output_weights and layout.stages > 1 and (layout.is_first or layout.is_last)

    def samples(self, step, micro_batch):
        """Tokens and the tokens that follow them, of this copy of the model: [tokens, samples]."""
        options = self.options
        first = ((step * self.layout.data + self.layout.data_rank) * self.micro_batches + micro_batch) * options.micro_batch_size
        texts = [torch.randint(options.vocab_size, (options.seq_length + 1,), generator=torch.Generator().manual_seed(first + i)) for i in range(options.micro_batch_size)]
        text = torch.stack(texts, 1)
        return text[:-1], text[1:]

    def send(self, tensor, rank):
        tensor = tensor.detach().contiguous()
        self.sent.append((dist.isend(tensor, rank), tensor))

    def receive(self, rank):
        tensor = torch.empty(self.shape)
        dist.irecv(tensor, rank).wait()
        return tensor

    def forward(self, step, micro_batch):
        x = None if self.layout.is_first else self.receive(self.layout.previous).requires_grad_()
        for shared in self.shared:
            shared.before_pass()
        result = self.stage(x, *self.samples(step, micro_batch))
        for shared in self.shared:
            shared.forget()
        if self.layout.is_last:
            self.loss += result.item() / self.micro_batches
        else:
            self.send(result, self.layout.next)
        self.passes.append((x, result))

    def backward(self):
        x, result = self.passes.pop(0)
        gradient = torch.tensor(1 / (self.micro_batches * self.layout.data)) if self.layout.is_last else self.receive(self.layout.next)
        for shared in self.shared:
            shared.before_pass()
        torch.autograd.backward(result, gradient)
        for shared in self.shared:
            shared.forget()
        if not self.layout.is_first:
            self.send(x.grad, self.layout.previous)
        if self.zero_stage >= 2:
            self.reduce_gradients()

    def step(self, number):
        """One forward and one backward pass in turn, after as many forward passes as there are later stages."""
        self.sent, self.passes, self.loss = [], [], 0.0
        first = min(self.layout.stages - 1 - self.layout.stage, self.micro_batches)
        for micro_batch in range(first):
            self.forward(number, micro_batch)
        for micro_batch in range(first, self.micro_batches):
            self.forward(number, micro_batch)
            self.backward()
        for _ in range(first):
            self.backward()
        for request, _ in self.sent:
            request.wait()
        if self.zero_stage < 2:
            self.reduce_gradients()
        for shared in self.shared:
            shared.update(0.1)

    def reduce_gradients(self):
        if self.options.sequence_parallel:
            self.reduce_norms()
        if self.is_tied:
            words = self.stage.embedding.words if self.layout.is_first else self.stage.output.words
            words.grad.copy_(all_reduce(words.grad.clone(), self.layout.embedding_group))
        for shared in self.shared:
            shared.reduce()

    def reduce_norms(self):
        """With sequence parallelism, each rank has seen only its part of the tokens."""
        gradients = torch.cat([norm.grad for norm in self.norms])
        all_reduce(gradients, self.layout.tensor_group)
        for norm, gradient in zip(self.norms, gradients.split(self.options.hidden_size)):
            norm.grad.copy_(gradient)


def check(options, layout):
    """Says why this job is impossible."""
    tokens = options.seq_length * options.micro_batch_size // layout.tensor
    reasons = [
        (options.global_batch_size % (options.micro_batch_size * layout.data), "the global batch size is not a multiple of the micro-batches of all copies"),
        (options.num_layers < layout.stages, "there are more stages than layers"),
        (any(size % layout.tensor for size in (options.seq_length, options.num_attention_heads, options.vocab_size)), "the tokens, heads or words are not a multiple of the tensor group"),
        (options.hidden_size % options.num_attention_heads, "the hidden size is not a multiple of the heads"),
        (options.num_experts % layout.expert or (layout.expert > 1 and not options.num_experts), "the experts are not a multiple of the expert group"),
        (options.num_experts and layout.tensor > 1 and not options.sequence_parallel, "experts in tensor groups need --sequence-parallel"),
        (options.num_experts and tokens * options.moe_router_topk % options.num_experts, "the tokens of a rank cannot be distributed evenly among the experts"),
        (options.zero_stage >= 2 and layout.stages > 1 and not options.untie_embeddings_and_output_weights, "--zero-stage 2 and 3 with a pipeline need --untie-embeddings-and-output-weights"),
    ]
    for impossible, reason in reasons:
        if impossible:
            raise SystemExit(f"tiny_gpt.py: {reason}")


def run_steps(options, training):
    """The mean time of a step, without the first one."""
    layout = training.layout
    seconds = 0.0
    for number in range(options.train_iters):
        if number == 1:
            dist.barrier()
            seconds = time.monotonic()
        training.step(number)
        if layout.is_last and layout.tensor_rank == 0:
            print(f"step {number} copy {layout.data_rank}: loss {training.loss:.6f}", flush=True)
    if options.train_iters == 1:
        return None
    dist.barrier()
    return (time.monotonic() - seconds) / (options.train_iters - 1)


def run_profiled(options, training):
    """Writes what torch knows about the communication: the execution trace and the trace of the profiler."""
    from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile  # noqa: PLC0415
    for kind in ("execution", "profiler"):
        os.makedirs(os.path.join(options.profile, kind), exist_ok=True)
    name = f"rank_{training.layout.rank}.json"
    observer = ExecutionTraceObserver().register_callback(os.path.join(options.profile, "execution", name))
    with profile(activities=[ProfilerActivity.CPU], execution_trace_observer=observer) as recorded:
        seconds = run_steps(options, training)
    recorded.export_chrome_trace(os.path.join(options.profile, "profiler", name))
    return seconds


def main():
    options = read_arguments()
    is_job_of_mpi = any(name in os.environ for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK"))
    torch.set_num_threads(1)
    start_processes(options.backend or ("mpi" if is_job_of_mpi and dist.is_mpi_available() else "gloo"))
    layout = Layout(options)
    print(f"rank {layout.rank} on {socket.gethostname()}: stage {layout.stage} copy {layout.data_rank} part {layout.tensor_rank}", flush=True)
    check(options, layout)
    seconds = (run_profiled if options.profile else run_steps)(options, Training(options, layout))
    if layout.rank == 0 and seconds is not None:
        print(f"seconds per step: {seconds:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
