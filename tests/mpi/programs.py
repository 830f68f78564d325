# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of sends and receives between tasks, and what must come of them.

A program is written as a list of messages in the order of a sequential reading. Each task's part
of it is what this task does for these messages, one after the other; requests may be waited for
later, and receives posted earlier, than the reading says. So every program here ends, whichever
messages its wildcards take, even if a send only ends once its receive has begun:

- a blocking send is read at the same place as its receive, which no other message can take;
- to a task that receives by wildcards others send by `isend` and wait at the end: how many
  messages of a kind were sent at any place of the reading is then enough for all receives;
- both sides start a persistent request, or use a channel, at the same place; no wildcard sees
  these messages;
- what all tasks do together stands at one place of all of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from cases import private, source_of, target_of, whole

import hocket as hk
import oracle
from oracle import Spec

NAMES = ("a", "b", "c", "d")
TYPES = ("f8", "i4", "c16", "u1")


@dataclass
class Message:
    """A message, with its sender and receiver; `number` distinguishes its elements from all
    others."""

    number: int
    source: int
    target: int
    tag: int
    dtype: str
    sent: Spec
    received: Spec
    apart: bool = False  # from ordinary messages: of a persistent request, or a channel


@dataclass
class Step:
    """One statement of one task: `verb` with the messages that it is about."""

    # send isend recv irecv proberecv iproberecv sendrecv start channel together
    # wait waitall waitany test
    verb: str
    out: Message | None = None
    into: Message | None = None
    waits: list[int] = field(default_factory=list)  # numbers of requests, as they were started
    source: int = hk.ANY_SOURCE  # of what is received
    tag: int = hk.ANY_TAG
    again: int | None = None  # the persistent request that was started under this number before

    def __str__(self) -> str:
        words = [self.verb]
        if self.out:
            words.append(f"#{self.out.number} to {self.out.target} tag {self.out.tag}")
        if self.into:
            words.append(f"for #{self.into.number} from {self.source} tag {self.tag}")
        words += [f"again {self.again}"] * (self.again is not None)
        return " ".join(words + [str(self.waits)] * bool(self.waits))


class Program:
    """A random program for tasks of these sizes; the same for the same seed, everywhere."""

    def __init__(self, sizes: list[int], *seed: int) -> None:
        self.rng = np.random.default_rng(list(seed))
        self.sizes = sizes
        # The wildcards of a task's receives, the same for all.
        modes = ["exact", "exact", "source", "tag", "all"]
        self.wild = [str(self.rng.choice(modes)) for _ in sizes]
        self.kinds = [self._kind() for _ in sizes]
        self.steps: list[list[Step]] = [[] for _ in sizes]
        self.open: list[list[int]] = [[] for _ in sizes]  # requests not waited for
        self.started = [0] * len(sizes)
        self.to_wild: list[set[int]] = [set() for _ in sizes]  # only waited for at the end
        self.messages: list[Message] = []
        # Persistent pairs: the last message, and the numbers of both ends' last starts.
        self.kept: list[tuple[Message, int, int]] = []
        wanted = int(self.rng.integers(3, 14))
        while len(self.messages) < wanted:
            self._turn()
        for task in range(len(sizes)):
            self._wait(task, list(self.open[task]))
            self._post_earlier(task)

    def __str__(self) -> str:
        parts = [
            f"task {NAMES[task]} of {size} receives by {mode}: " + "; ".join(map(str, steps))
            for task, (size, mode, steps) in enumerate(zip(self.sizes, self.wild, self.steps))
        ]
        return "\n".join([*map(str, self.messages), *parts])

    def _kind(self) -> tuple[oracle.Index, str]:
        if self.rng.random() < 0.15:  # beyond what pays to be read from the sender's memory
            return (int(self.rng.integers(90, 130)), int(self.rng.integers(90, 130))), "f8"
        shape = oracle.random_shape(self.rng, int(self.rng.integers(1, 4)))
        return shape, str(self.rng.choice(TYPES))

    def _message(
        self, source: int, target: int, kind: tuple[oracle.Index, str] | None = None
    ) -> Message:
        # Any of a task's wildcards may get it, so all that come to such a task are of one kind.
        wild = self.wild[target] != "exact"
        shape, dtype = kind or (self.kinds[target] if wild else self._kind())
        sent, received = (
            oracle.random_spec(self.rng, shape, self.sizes[task]) for task in (source, target)
        )
        tag = int(self.rng.integers(3))
        made = Message(len(self.messages) + 1, source, target, tag, dtype, sent, received)
        self.messages.append(made)
        return made

    def _turn(self) -> None:
        source, target = (int(t) for t in self.rng.integers(len(self.sizes), size=2))
        exact = [t for t in range(len(self.sizes)) if self.wild[t] == "exact"]
        to = int(self.rng.choice(exact or [source]))
        # Of two messages to itself, the second would be sent before the first.
        kind = self.rng.random()
        if exact and not source == target == to and kind < 0.25:
            self._exchange(source, to, target)
        elif kind < 0.45:
            self._persistent(source, target)
        elif kind < 0.55 and source != target:
            self._apart(source, target, "channel")
        elif kind < 0.6:
            for steps in self.steps:
                steps.append(Step("together", source=source, tag=len(self.messages)))
        else:
            self._plain(self._message(source, target))
        for task in {source, target}:
            ready = [one for one in self.open[task] if one not in self.to_wild[task]]
            if ready and self.rng.random() < 0.4:
                count = int(self.rng.integers(1, len(ready) + 1))
                self._wait(task, [int(n) for n in self.rng.permutation(ready)[:count]])

    def _plain(self, message: Message) -> None:
        blocking = self.wild[message.target] == "exact" and message.source != message.target
        if blocking and self.rng.random() < 0.5:
            self.steps[message.source].append(Step("send", message))
        else:
            number = self._started(message.source, Step("isend", message))
            if self.wild[message.target] != "exact":
                self.to_wild[message.source].add(number)
        # A task that sends to itself may not block in either.
        verbs = ["irecv"]
        if message.source != message.target:
            verbs += ["recv", "proberecv", "iproberecv"]
        step = self._receive(str(self.rng.choice(verbs)), message)
        if step.verb == "irecv":
            self._started(message.target, step)
        else:
            self.steps[message.target].append(step)

    def _exchange(self, middle: int, to: int, of: int) -> None:
        """`middle` sends to `to`, and receives from `of` at the same time."""
        out, into = self._message(middle, to), self._message(of, middle)
        if of != middle:
            number = self._started(of, Step("isend", into))
            if self.wild[middle] != "exact":
                self.to_wild[of].add(number)
        if to != middle:
            self._started(to, self._receive("irecv", out))
        both = Step("sendrecv", out, into)
        both.source, both.tag = self._pattern(into)
        if to == middle:  # its own send needs a receive that is there already
            self._started(middle, self._receive("irecv", out))
        if of == middle:
            number = self._started(middle, Step("isend", into))
            if self.wild[middle] != "exact":
                self.to_wild[middle].add(number)
        self.steps[middle].append(both)

    def _apart(self, source: int, target: int, verb: str) -> tuple[Step, Step]:
        shape, dtype = self._kind()
        made = self._message(source, target, (shape, dtype))
        made.apart = True
        steps = Step(verb, made), Step(verb, None, made, [], source, made.tag)
        for task, step in zip((source, target), steps):
            self.steps[task].append(step)
        return steps

    def _persistent(self, source: int, target: int) -> None:
        """A new pair, or one that both sides have waited for once more, with other arrays."""
        ready = [
            place
            for place, (message, out, into) in enumerate(self.kept)
            if out not in self.open[message.source] and into not in self.open[message.target]
        ]
        if not ready or self.rng.random() < 0.4:
            steps = self._apart(source, target, "start")
            numbers = [self._number(task, step) for task, step in zip((source, target), steps)]
            assert steps[0].out
            self.kept.append((steps[0].out, numbers[0], numbers[1]))
            return
        place = int(self.rng.choice(ready))
        last, out, into = self.kept[place]
        made = replace(last, number=len(self.messages) + 1)
        self.messages.append(made)
        sending = Step("start", made, again=out)
        receiving = Step("start", None, made, [], made.source, made.tag, again=into)
        self.kept[place] = (
            made,
            self._started(made.source, sending),
            self._started(made.target, receiving),
        )

    def _pattern(self, message: Message) -> tuple[int, int]:
        mode = self.wild[message.target]
        return (
            hk.ANY_SOURCE if mode in ("source", "all") else message.source,
            hk.ANY_TAG if mode in ("tag", "all") else message.tag,
        )

    def _receive(self, verb: str, message: Message) -> Step:
        source, tag = self._pattern(message)
        return Step(verb, None, message, [], source, tag)

    def _started(self, task: int, step: Step) -> int:
        self.steps[task].append(step)
        return self._number(task, step)

    def _number(self, task: int, step: Step) -> int:
        number = self.started[task]
        self.started[task] += 1
        step.waits = [number]
        self.open[task].append(number)
        return number

    def _wait(self, task: int, numbers: list[int]) -> None:
        if not numbers:
            return
        for number in numbers:
            self.open[task].remove(number)
        verb = str(self.rng.choice(["wait", "waitall", "waitany", "test"]))
        self.steps[task].append(Step(verb, waits=numbers))

    def _post_earlier(self, task: int) -> None:
        """Receives may be posted earlier, but not past one that could take the same message."""
        steps = self.steps[task]
        for place in range(len(steps)):
            if steps[place].verb != "irecv" or self.rng.random() < 0.5:
                continue
            for _ in range(int(self.rng.integers(1, 6))):
                before = steps[place - 1] if place else None
                if before is None or before.into is not None:
                    break
                steps[place - 1], steps[place] = steps[place], steps[place - 1]
                place -= 1


class Run:
    """This process's part of a program."""

    def __init__(self, program: Program, w: hk.Tasks, seed: tuple[int, ...]) -> None:
        self.program, self.w, self.seed = program, w, seed
        self.requests: dict[int, hk.Request] = {}
        self.sent: list[Any] = []  # guarded memory
        # In the order of their posting: [message that the program meant, room, status].
        self.received: list[list[Any]] = []
        self.of_request: dict[int, list[Any]] = {}
        self.persistent: list[hk.Request] = []

    def run(self) -> None:
        for step in self.program.steps[self.w.rank]:
            getattr(self, step.verb)(step)
        for request in self.persistent:
            request.free()
        self.check()

    def _rng(self, message: Message) -> np.random.Generator:
        return private(self.w.comm, *self.seed, message.number)

    def outgoing(self, message: Message) -> hk.Array:
        array = whole(message.sent.shape, message.dtype, message.number)
        if message.number % 2:
            a = hk.empty(message.sent.layout(hk), message.dtype, self.w.comm)
            a.local[...] = message.sent.local(array, self.w.comm.rank)
            return a
        a, memory = source_of(message.sent, array, self.w.comm, self._rng(message))
        self.sent.append(memory)
        return a

    def incoming(self, message: Message) -> tuple[hk.Array, list[Any]]:
        b, room = target_of(message.received, message.dtype, self.w.comm, self._rng(message))
        entry = [message, room, None]
        self.received.append(entry)
        return b, entry

    def send(self, step: Step) -> None:
        assert step.out
        self.w.send(self.outgoing(step.out), step.out.target, step.out.tag)

    def isend(self, step: Step) -> None:
        assert step.out
        array = self.outgoing(step.out)
        self.requests[step.waits[0]] = self.w.isend(array, NAMES[step.out.target], step.out.tag)

    def recv(self, step: Step) -> None:
        assert step.into
        b, entry = self.incoming(step.into)
        entry[2] = self.w.recv(b, step.source, step.tag)

    def irecv(self, step: Step) -> None:
        assert step.into
        b, entry = self.incoming(step.into)
        self.requests[step.waits[0]] = self.w.irecv(b, step.source, step.tag)
        self.of_request[step.waits[0]] = entry

    def proberecv(self, step: Step) -> None:
        self._found(step, self.w.probe(step.source, step.tag))

    def iproberecv(self, step: Step) -> None:
        while (st := self.w.iprobe(step.source, step.tag)) is None:
            pass
        self._found(step, st)

    def start(self, step: Step) -> None:
        number = step.waits[0]
        if step.out:
            array = self.outgoing(step.out)
            made = self._persistent(step, self.w.send_init, array, step.out.target, step.out.tag)
        else:
            assert step.into
            array, self.of_request[number] = self.incoming(step.into)
            made = self._persistent(step, self.w.recv_init, array, step.source, step.tag)
        self.requests[number] = made
        made.start(array)

    def _persistent(self, step: Step, init: Any, array: hk.Array, *there: int) -> hk.Request:
        if step.again is not None:
            return self.requests[step.again]
        # Of the array, or of any of its layout; alike on all processes of the task.
        made: hk.Request = init(array if step.waits[0] % 2 else array.layout, *there)
        self.persistent.append(made)
        return made

    def channel(self, step: Step) -> None:
        if step.out:
            self.w.channel("c", step.out.target).send(self.outgoing(step.out))
        else:
            assert step.into
            b, entry = self.incoming(step.into)
            entry[2] = self.w.channel("c", step.source).recv(b)

    def together(self, step: Step) -> None:
        """A value of the root's to all tasks, on which they depend."""
        layout = hk.Layout((5,), "(CYCLIC)", self.w.comm.size)
        value = step.tag if self.w.rank == step.source else -1
        a = hk.from_function(lambda i: i + value, layout, "i8", comm=self.w.comm)
        self.w.bcast(a, step.source)
        expected = layout.global_indices(self.w.comm.rank)[0] + step.tag
        np.testing.assert_array_equal(a.local, expected)
        self.w.barrier()

    def _found(self, step: Step, probed: hk.Status) -> None:
        assert step.into
        assert probed.layout.shape == step.into.received.shape
        b, entry = self.incoming(step.into)
        if probed.source == self.w.rank:  # of itself, which it may not block for
            st = self.w.irecv(b, probed.source, probed.tag).wait()
        else:
            st = self.w.recv(b, probed.source, probed.tag)
        entry[2] = st
        assert (st.source, st.tag, st.layout) == (probed.source, probed.tag, probed.layout)

    def sendrecv(self, step: Step) -> None:
        assert step.out and step.into
        a = self.outgoing(step.out)
        b, entry = self.incoming(step.into)
        entry[2] = self.w.sendrecv(
            a, step.out.target, b, step.source, sendtag=step.out.tag, recvtag=step.tag
        )

    def _done(self, number: int, st: hk.Status) -> None:
        if number in self.of_request:
            self.of_request[number][2] = st

    def wait(self, step: Step) -> None:
        for number in step.waits:
            self._done(number, self.requests[number].wait())

    def waitall(self, step: Step) -> None:
        statuses = hk.waitall([self.requests[number] for number in step.waits])
        for number, st in zip(step.waits, statuses):
            self._done(number, st)

    def waitany(self, step: Step) -> None:
        left = list(step.waits)
        while left:
            number = left.pop(hk.waitany([self.requests[number] for number in left]))
            self._done(number, self.requests[number].status)

    def test(self, step: Step) -> None:
        for number in step.waits:
            while not self.requests[number].test():
                pass
            self._done(number, self.requests[number].status)

    def check(self) -> None:
        """Every receive got the next message of its source and tag, whole, and nothing else."""
        for memory in self.sent:
            memory.check_untouched("an array that was sent")
        coming = [m for m in self.program.messages if m.target == self.w.rank and not m.apart]
        taken: Counter[tuple[int, int]] = Counter()
        for meant, room, st in self.received:
            assert st is not None, f"the receive for message {meant.number} has no status"
            kind = (int(st.source), st.tag)
            if meant.apart:
                assert kind[0] == meant.source
                self._check_one(meant, meant, room, st)
                continue
            same = [m for m in coming if (m.source, m.tag) == kind]
            assert taken[kind] < len(same), f"more messages than were sent of (source, tag) {kind}"
            got = same[taken[kind]]
            taken[kind] += 1
            self._check_one(meant, got, room, st)

    def _check_one(self, meant: Message, got: Message, room: Any, st: hk.Status) -> None:
        assert (st.layout, st.dtype) == (got.sent.layout(hk), np.dtype(got.dtype))
        array = whole(got.sent.shape, got.dtype, got.number)
        room.check(meant.received.local(array, self.w.comm.rank), f"message {got.number}")


def run_programs(comm: Any, sizes: dict[str, int], count: int, *seed: int) -> None:
    """`count` programs, one after the other; an error names the seed that repeats it."""
    w = hk.tasks(sizes, comm)
    for number in range(count):
        full = (*seed, number)
        if comm.rank == 0:  # shown by the runner when something fails, or hangs
            print(f"program of seed {full}", flush=True)
        program = Program(list(sizes.values()), *full)
        try:
            Run(program, w, full).run()
        except BaseException as error:
            raise AssertionError(
                f"{type(error).__name__} in the program of seed {full}: {error}\n{program}"
            ) from error
        # A message of the next program must not meet a wildcard of this one.
        comm.barrier()
