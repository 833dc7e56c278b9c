/** One rule of the queue taken out: the histories have to notice. */
export interface Fault {
  readonly name: string
  /** In `src/waiting`. */
  readonly file: string
  readonly from: string
  readonly to: string
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'earlier requests block no other',
    file: 'lane.ts',
    from: "isBefore(first, waiter)) return 'order'",
    to: "isBefore(first, waiter) && first.isOver) return 'order'",
  },
  {
    name: 'places are held in the refusing lane only',
    file: 'lanes.ts',
    from: 'this.#laneOf(needs[at]!).places.put(place)',
    to: 'if (at === upTo) this.#laneOf(needs[at]!).places.put(place)',
  },
  {
    name: 'nothing is tried when something is freed',
    file: 'lanes.ts',
    from: '      lane.freed(event)\n      this.#wakeFirst(lane)\n',
    to: '',
  },
  {
    name: 'no request is tried when another leaves',
    file: 'lanes.ts',
    from: '      lane.places.remove(places.pop()!)\n      this.#wakeFirst(lane)\n',
    to: '      lane.places.remove(places.pop()!)\n',
  },
  {
    name: 'a refusal in flight counts, though something was freed',
    file: 'lanes.ts',
    from: 'answered(this.#changedAt > sentAt || lanes.some(({ freedAt }) => freedAt > sentAt))',
    to: 'answered(false)',
  },
  {
    name: 'who waits for answers keeps no wider place',
    file: 'lanes.ts',
    from: "if (reason === 'flights') return { upTo: needs.length - 1, isTooLate: false }",
    to: "if (reason === 'flights') return { upTo: at, isTooLate: false }",
  },
  {
    name: 'no request is tried when answers land',
    file: 'lanes.ts',
    from: '      for (const lane of lanes) this.#wakeFirst(lane)\n',
    to: '',
  },
  {
    name: 'every try counts as sure',
    file: 'lanes.ts',
    from: 'lanes.every((lane, at) => lane.isSafe(needs[at]!))',
    to: 'lanes.length > 0',
  },
  {
    name: 'room is not shared',
    file: 'lane.ts',
    from: 'const FAIR_PART = 8',
    to: 'const FAIR_PART = 0.1',
  },
  {
    name: 'room forgets what is in flight',
    file: 'lane.ts',
    from: 'this.#flyingCost + cost <= this.#room / FAIR_PART',
    to: 'cost <= this.#room',
  },
  {
    name: 'tries follow each other at any cost',
    file: 'lane.ts',
    from: 'spare >= needs[at + i]!.spare',
    to: 'spare > 0',
  },
  {
    name: 'tries follow each other for any limits',
    file: 'lane.ts',
    from: 'lane === needs[at + i]!.lane && spare',
    to: 'spare',
  },
  {
    name: 'tries follow each other at any time',
    file: 'lane.ts',
    from: 'const isSent = turn === this.#turn && ',
    to: 'const isSent = turn >= this.#turn && ',
  },
  {
    name: 'smaller requests count as refused',
    file: 'lane.ts',
    from: 'now < this.retryAt && waiter.needs[at]!.spare <= this.#refusedSpare',
    to: 'now < this.retryAt',
  },
  {
    name: 'close leaves those in flight',
    file: 'lanes.ts',
    from: 'for (const waiter of this.#all) this.#end(',
    to: 'for (const waiter of this.#all) if (!waiter.isFlying) this.#end(',
  },
  {
    name: 'a late admission is kept',
    file: 'lanes.ts',
    from: '      reservation.cancel().catch(() => undefined)\n',
    to: '',
  },
  {
    name: 'a deadline outlives its request',
    file: 'lanes.ts',
    from: '      this.#alarms.remove(alarm)\n',
    to: '',
  },
  {
    name: 'slots come last in a layer',
    file: 'needs.ts',
    from: 'a.users - b.users',
    to: 'b.users - a.users',
  },
  {
    name: 'numbers of requests count for nothing',
    file: 'needs.ts',
    from: 'Math.min(quotas.limits[limit.at]!, Number.MAX_SAFE_INTEGER)',
    to: 'Number.MAX_SAFE_INTEGER',
  },
  {
    name: 'a narrow layer comes after a wide one',
    file: 'needs.ts',
    from: 'a.layer - b.layer',
    to: 'b.layer - a.layer',
  },
  {
    name: 'shared layers come first',
    file: 'needs.ts',
    from: 'isShared(a) - isShared(b)',
    to: 'isShared(b) - isShared(a)',
  },
  {
    name: 'priorities count for nothing',
    file: 'lanes.ts',
    from: 'rank: cameAt - priority * this.#options.headStartMs',
    to: 'rank: cameAt',
  },
  {
    name: 'what expects give-backs is too late all the same',
    file: 'waiter.ts',
    from: 'if (waiter.expectsGiveBacks || refusedBy.kind',
    to: 'if (refusedBy.kind',
  },
  {
    name: 'the reply to a larger request counts for smaller ones',
    file: 'lane.ts',
    from: 'if (now < this.retryAt && spare < this.#refusedSpare) return\n    this.#refusedSpare = spare\n',
    to: 'this.#refusedSpare = now < this.retryAt ? Math.max(this.#refusedSpare, spare) : spare\n',
  },
]
