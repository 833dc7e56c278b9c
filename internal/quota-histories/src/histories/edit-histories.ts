import assert from 'node:assert/strict'
import { cellsIn, windowCell } from '@scoregw/quota/internal'
import type { StoreSchema } from '@scoregw/quota/store'
import type { StoreFactory, StoreHarness } from '@scoregw/quota-testkit'
import { ModelWindows } from '@scoregw/quota-testkit/model'
import { cellsOf, oneRow, playAll, Requests } from './requests.ts'

const TICK_MS = 60_000

/** One row under two policies, each with a window that the other lacks. */
function lasting(...ticks: number[]): StoreSchema {
  const windows = ticks.map((each) => windowCell({ label: `${each}m`, lengthMs: each * TICK_MS }))
  return oneRow(cellsIn(['tokens'], windows))
}

const NAMES = ['old', 'young'] as const
type Name = (typeof NAMES)[number]
const SCHEMAS: Readonly<Record<Name, StoreSchema>> = { old: lasting(1, 2), young: lasting(2, 5) }
/** High enough that nothing is refused. */
const LIMITS = [99, 99]

const MOVES = [
  'old takes',
  'young takes',
  'old gives back',
  'young gives back',
  'old resets',
  'young resets',
  'time passes',
  'the clock steps back',
] as const
type Move = (typeof MOVES)[number]

/** How far back the clock steps, in milliseconds: less than the grace period of any store. */
const STEP_BACK_MS = 3_000

/** Every history of a length. The clock only steps back if the harness can set it. */
function* histories(depth: number, moves: readonly Move[]): Generator<readonly Move[]> {
  if (depth === 0) {
    yield []
    return
  }
  for (const rest of histories(depth - 1, moves)) for (const move of moves) yield [move, ...rest]
}

/** Plays one history for a new subject, and compares every window with the model after every move. */
class EditHistory {
  readonly #harness: StoreHarness
  readonly #requests: Readonly<Record<Name, Requests>>
  readonly #subject: string
  readonly #windows: ModelWindows
  /** Which windows a policy's last tokens are in. */
  readonly #taken = new Map<Name, readonly number[]>()

  constructor(harness: StoreHarness, requests: Readonly<Record<Name, Requests>>, subject: string) {
    this.#harness = harness
    this.#requests = requests
    this.#subject = subject
    this.#windows = new ModelWindows(harness.clock)
  }

  async play(move: Move): Promise<void> {
    if (move === 'time passes') await this.#harness.advance(TICK_MS)
    else if (move === 'the clock steps back') await this.#harness.stepClock?.(-STEP_BACK_MS)
    else await this.#request(...(move.split(/ (.*)/) as [Name, string]))
    for (const name of NAMES) {
      const expected = cellsOf(SCHEMAS[name]).flatMap(({ identity, lengthMs }) => {
        const { startedAt, used } = this.#windows.open(identity, { lengthMs }) ?? { startedAt: -1, used: 0 }
        return [startedAt, used]
      })
      assert.deepEqual(
        await this.#requests[name].read(this.#store(name), this.#subject),
        expected,
        `as ${name} sees it`,
      )
    }
  }

  async #request(name: Name, what: string): Promise<void> {
    const cells = cellsOf(SCHEMAS[name])
    if (what === 'takes') {
      const { outcome, states } = await this.#requests[name].take(this.#store(name), this.#subject, 1)
      assert.equal(outcome, 'admitted')
      for (const { identity, lengthMs } of cells) this.#windows.charge(identity, { lengthMs }, 1)
      this.#taken.set(name, states)
    } else if (what === 'resets') {
      await this.#requests[name].reset(this.#store(name), this.#subject)
      for (const { identity } of cells) this.#windows.close(identity)
    } else await this.#refund(name)
  }

  async #refund(name: Name): Promise<void> {
    const states = this.#taken.get(name)
    if (states === undefined) return
    this.#taken.delete(name)
    const of = { subject: this.#subject, set: 0, layers: [0] }
    await this.#requests[name].on(this.#store(name)).settle({ ...of, states, refunds: [1], as: 'cancelled' })
    for (const [at, { identity }] of cellsOf(SCHEMAS[name]).entries())
      this.#windows.refund(identity, states[2 * at] ?? -1, 1)
  }

  /** The young policy belongs to another process. */
  #store(name: Name): StoreHarness['store'] {
    return name === 'old' ? this.#harness.store : (this.#harness.peer ?? this.#harness.store)
  }
}

/**
 * Plays every history of some moves in which two policies write one row: charges, refunds, resets, ends of windows, and
 * a clock that steps back if the harness can set it. After each move both policies must see windows that depend on
 * names only.
 *
 * @param depth the number of moves; 4 make 4,096 histories
 * @returns the number of histories
 * @throws {Error} at the first difference, with the history that shows it
 */
export async function runEditHistories(factory: StoreFactory, { depth = 4 }: { depth?: number } = {}): Promise<number> {
  const harness = await factory({})
  const canStep = harness.capabilities.includes('clock-steps')
  const moves = MOVES.filter((move) => canStep || move !== 'the clock steps back')
  const requests = { old: new Requests(SCHEMAS.old, LIMITS), young: new Requests(SCHEMAS.young, LIMITS) }
  let played = 0
  try {
    for (const history of histories(depth, moves)) {
      const one = new EditHistory(harness, requests, `u${played}`)
      played++
      await playAll('two policies', history, (move) => one.play(move))
    }
  } finally {
    await harness.stop()
  }
  return played
}
