import type { StoreSchema } from '@scoregw/quota/store'
import { contextOf, type StoreFactory } from './harness.ts'
import { Parties, type Taken } from './parties.ts'
import { ONE_WINDOW, rollingCells } from './probe.ts'

const TICK_MS = 60_000

/** One row under two policies: each has a window that the other does not know. */
function lasting(...ticks: number[]): StoreSchema {
  return {
    ...ONE_WINDOW,
    cells: rollingCells(...ticks.map((each) => ({ label: `${each}m`, lengthMs: each * TICK_MS }))),
  }
}

const OLD = lasting(1, 2)
const YOUNG = lasting(2, 5)

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

/** How far back the clock steps: less than any store's grace. In milliseconds. */
const STEP_BACK_MS = 3_000

/** Every history of a length; the clock steps back only where the harness can turn it. */
function* histories(depth: number, moves: readonly Move[]): Generator<readonly Move[]> {
  if (depth === 0) {
    yield []
    return
  }
  for (const rest of histories(depth - 1, moves)) for (const move of moves) yield [move, ...rest]
}

/** Plays one history with a subject of its own, and looks at every window after every move. */
class EditHistory {
  readonly #parties: Parties
  readonly #subject: string
  readonly #stepClock: (ms: number) => PromiseLike<void> | void
  readonly #held = new Map<StoreSchema, Taken>()

  constructor(parties: Parties, subject: string, stepClock: (ms: number) => PromiseLike<void> | void) {
    this.#parties = parties
    this.#subject = subject
    this.#stepClock = stepClock
  }

  async play(move: Move): Promise<void> {
    const schema = move.startsWith('old') ? OLD : YOUNG
    const subject = this.#subject
    if (move === 'time passes') await this.#parties.advance(TICK_MS, subject)
    else if (move === 'the clock steps back') await this.#stepBack()
    else if (move.endsWith('takes')) this.#held.set(schema, await this.#parties.take(schema, 1, { subject }))
    else if (move.endsWith('resets')) await this.#parties.reset(schema, { subject })
    else await this.#giveBack(schema)
  }

  async #stepBack(): Promise<void> {
    await this.#stepClock(-STEP_BACK_MS)
    await this.#parties.compare(this.#subject)
  }

  async #giveBack(schema: StoreSchema): Promise<void> {
    const held = this.#held.get(schema)
    if (held === undefined) return
    this.#held.delete(schema)
    await this.#parties.cancel(schema, held, 1)
  }
}

/**
 * Plays every history of some moves in which two policies write one row: charges, refunds, resets, ends of windows, and
 * a clock that steps back where the harness can turn it. After each move both policies have to see what windows that go
 * by names alone would be.
 *
 * @param depth how many moves; 4 are 4,096 histories
 * @returns how many histories there were
 * @throws {Error} at the first difference, with the history that shows it
 */
export async function runEditHistories(factory: StoreFactory, { depth = 4 }: { depth?: number } = {}): Promise<number> {
  const harness = await factory({})
  const context = contextOf(harness)
  const canStep = context.capabilities.includes('clock-steps')
  const moves = MOVES.filter((move) => canStep || move !== 'the clock steps back')
  let played = 0
  try {
    const parties = new Parties(context, 'at once', OLD, YOUNG)
    for (const history of histories(depth, moves)) {
      const one = new EditHistory(parties, `u${played}`, context.stepClock)
      played++
      try {
        for (const move of history) await one.play(move)
      } catch (cause) {
        throw new Error(`a history of two policies goes wrong: ${history.join(', ')}`, { cause })
      }
    }
  } finally {
    await harness.stop()
  }
  return played
}
