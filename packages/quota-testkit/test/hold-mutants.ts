import {
  ModelCounters,
  type ModelId,
  type ModelMoved,
  type ModelRecord,
  type ModelSettle,
  type ModelSettled,
  type ModelTake,
  type ModelTaken,
} from '../src/model/model-counters.ts'

/** Rules of holds left out one by one: what each is for, and the promise that is broken without it. */
export interface BrokenCounters {
  readonly rule: string
  /** What is done in the rule's place. */
  readonly fault: string
  readonly Counters: typeof ModelCounters
  /** What a machine that only hears the answers has to say of it. */
  readonly promise: RegExp
  /** It knows the names of the machine's windows, and is of no use in a store. */
  readonly isOfMachine?: boolean
}

function record(model: ModelCounters, { name }: ModelId): ModelRecord | undefined {
  return model.state.records[name]
}

/** The commit of something that was settled already goes through once more. */
function reopened(model: ModelCounters, id: ModelId, ...states: readonly ModelRecord['state'][]): void {
  const known = record(model, id)
  if (known && states.includes(known.state)) Object.assign(known, { state: 'reserved', keptUntil: null })
}

export const BROKEN_COUNTERS: readonly BrokenCounters[] = [
  {
    rule: 'A hold that has ended stays ended',
    fault: 'an extension revives what has ended',
    promise: /revived|slots/,
    Counters: class extends ModelCounters {
      override extend(id: ModelId, ttlMs: number): ModelMoved {
        reopened(this, id, 'expired')
        const known = record(this, id)?.hold
        if (known) known.endsAt = Math.max(known.endsAt, this.clock.now() + 1)
        return super.extend(id, ttlMs)
      }
    },
  },
  {
    rule: 'A hold ends once',
    fault: 'what has ended is swept again',
    promise: /tokens are used/,
    Counters: class extends ModelCounters {
      override sweep(): number {
        for (const each of Object.values(this.state.records)) if (each.state === 'expired') each.state = 'reserved'
        return super.sweep()
      }
    },
  },
  {
    rule: 'A hold is settled once',
    fault: 'a repeated commit charges its excess again',
    isOfMachine: true,
    promise: /tokens are used/,
    Counters: class extends ModelCounters {
      override settleHold(id: ModelId, request: ModelSettle): ModelSettled {
        const known = record(this, id)
        if (known?.state === 'committed') this.windows.charge('window', { lengthMs: 120_000 }, 1)
        return super.settleHold(id, request)
      }
    },
  },
  {
    rule: 'What a commit costs beyond its hold is charged',
    fault: 'a commit forgets its excess',
    promise: /tokens are used/,
    Counters: class extends ModelCounters {
      override settleHold(id: ModelId, request: ModelSettle): ModelSettled {
        return super.settleHold(id, { ...request, windows: [] })
      }
    },
  },
  {
    rule: 'An overrun has a bound',
    fault: 'a commit charges whatever it overran',
    promise: /more than it may/,
    Counters: class extends ModelCounters {
      override settleHold(id: ModelId, request: ModelSettle): ModelSettled {
        return super.settleHold(id, { ...request, maxOverrun: { tokens: 1_000 } })
      }
    },
  },
  {
    rule: 'Slots are no window',
    fault: 'slots are free when the window has ended',
    isOfMachine: true,
    promise: /slots are taken/,
    Counters: class extends ModelCounters {
      override slotsTaken(name: string): number {
        const window = this.windows.open('window', { lengthMs: 120_000 })
        return window === undefined && this.state.windows.window !== undefined ? 0 : super.slotsTaken(name)
      }
    },
  },
  {
    rule: 'An id is used up when its hold ends',
    fault: 'a repeated reservation after the end holds again',
    promise: /slots are taken|tokens are used/,
    Counters: class extends ModelCounters {
      override take(request: ModelTake): ModelTaken {
        const { id } = request
        if (id && record(this, id)?.state === 'expired') delete this.state.records[id.name]
        return super.take(request)
      }
    },
  },
  {
    rule: 'What a hold grew by is its own',
    fault: 'a growth is forgotten by its hold',
    promise: /tokens are used/,
    Counters: class extends ModelCounters {
      override grow(...[id, costs, windows]: Parameters<ModelCounters['grow']>): ModelMoved {
        const before = structuredClone(record(this, id))
        const moved = super.grow(id, costs, windows)
        if (before) this.state.records[id.name] = before
        return moved
      }
    },
  },
  {
    rule: 'Tokens go back to the windows they came from',
    fault: 'a growth in a newer window goes back to it with all that was charged before',
    promise: /tokens are used/,
    Counters: class extends ModelCounters {
      override grow(...[id, costs, windows]: Parameters<ModelCounters['grow']>): ModelMoved {
        const moved = super.grow(id, costs, windows)
        const known = record(this, id)
        if (known && moved.outcome === 'held')
          for (const [name, charge] of Object.entries(known.charged))
            known.charged[name] = { ...charge, amount: known.costs[charge.unit] ?? 0 }
        return moved
      }
    },
  },
  {
    rule: 'The end of a hold gives its slot back',
    fault: 'only its own settling gives a slot back',
    promise: /slots are taken/,
    Counters: class extends ModelCounters {
      override sweep(): number {
        const slots = structuredClone(this.state.slots)
        const ended = super.sweep()
        Object.assign(this.state.slots, slots)
        return ended
      }
    },
  },
]
