import assert from 'node:assert/strict'
import type { TakeReply } from '@scoregw/quota/store'
import {
  commitAnswer,
  EXTENSION_MS,
  GROWTH,
  HOLD_MOVES,
  HOLD_MS,
  type HoldMove,
  type MoveAnswer,
  movedAnswer,
  moveModel,
  PARTIES,
  type PartyName,
  PLAIN,
  SLOTS,
  SLOTS_NAME,
  TOKENS,
  turnOf,
  WINDOW,
  WINDOW_MS,
} from '../model/hold-moves.ts'
import { copyOf, ModelCounters, type ModelState } from '../model/model-counters.ts'
import { type CaseContext, contextOf, missingOf, type StoreFactory } from './harness.ts'
import { type HoldOptions, HoldProbe, SLOTS as SLOTS_SCHEMA } from './hold-probe.ts'
import { rollingCells } from './probe.ts'

const [, RUNNING] = SLOTS_SCHEMA.cells
const CELLS = rollingCells({ label: '2m', lengthMs: WINDOW_MS })
const WITH_SLOTS = { ...SLOTS_SCHEMA, cells: RUNNING === undefined ? CELLS : [...CELLS, RUNNING] }
const WITHOUT = { ...SLOTS_SCHEMA, cells: CELLS }

/** What can be seen: the window's start and tokens, the slots that are taken, the open holds with their ends. */
type View = readonly unknown[]

/** Moves that say nothing new are left out: a party that has no hold and never had one has little to do. */
function isWorthwhile(history: readonly HoldMove[], move: HoldMove): boolean {
  const [party, what] = move.split(' ')
  const earlier = (name: HoldMove): number => history.filter((each) => each === name).length
  if (history.length === 0) return what === 'holds' || what === 'takes' || move === 'one cancels'
  if (what === 'extends' || what === 'adds' || what === 'commits') return earlier(`${party} holds` as HoldMove) > 0
  return what !== 'sweeps' || history.at(-1) !== 'somebody sweeps'
}

/** Every history of a length that can be played, and is worth it. */
function* histories(depth: number, moves: readonly HoldMove[]): Generator<readonly HoldMove[]> {
  function* longer(history: readonly HoldMove[], state: ModelState, now: number): Generator<readonly HoldMove[]> {
    if (history.length === depth) {
      yield history
      return
    }
    for (const move of moves) {
      const turn = turnOf(new ModelCounters({ now: () => now }, state), move)
      const isTwice = move === 'the clock steps back' && history.includes(move)
      if (turn === undefined || isTwice || !isWorthwhile(history, move)) continue
      const next = copyOf(state)
      moveModel(new ModelCounters({ now: () => now + turn }, next), move)
      yield* longer([...history, move], next, now + turn)
    }
  }
  yield* longer([], { windows: {}, slots: {}, records: {} }, 1_000_000)
}

/** Plays one history with a subject of its own, and looks at everything after every move. */
class HoldHistory {
  readonly #context: CaseContext
  readonly #probe: HoldProbe
  readonly #subject: string
  readonly #slot: boolean
  /**
   * What the store may be like: a hold that is past its end and that nobody looked at has ended or has not, until somebody
   * sweeps or asks for it.
   */
  #candidates: readonly ModelCounters[]

  constructor(context: CaseContext, probe: HoldProbe, subject: string) {
    this.#context = context
    this.#probe = probe
    this.#subject = subject
    this.#slot = probe.schema === WITH_SLOTS
    this.#candidates = [new ModelCounters(context.clock)]
  }

  async play(move: HoldMove): Promise<void> {
    const [expected] = this.#candidates
    if (expected === undefined) throw new RangeError('no model is left')
    await this.#turn(turnOf(expected, move) ?? 0)
    const answer = await this.#ask(move)
    const view = await this.#look()
    const seen = JSON.stringify([answer, view])
    const possible = eachEnded(this.#candidates).flatMap((candidate) => {
      const model = cloneOf(candidate)
      const due = moveModel(model, move)
      return eachEnded([model]).map((each) => ({ model: each, due: [due, viewOf(each, this.#slot)] }))
    })
    const agreeing = possible.filter(({ due }) => JSON.stringify(due) === seen)
    if (agreeing.length === 0) assert.deepEqual([answer, view], possible.at(-1)?.due, `after "${move}"`)
    // Looking at the holds may have ended those that were due, after what was seen of the windows.
    this.#candidates = eachEnded(agreeing.slice(0, 4).map(({ model }) => model))
  }

  async #turn(ms: number): Promise<void> {
    if (ms > 0) await this.#context.advance(ms)
    else if (ms < 0) await this.#context.stepClock(ms)
  }

  async #ask(move: HoldMove): Promise<MoveAnswer> {
    const subject = this.#subject
    const { store, peer } = this.#context
    if (move === 'somebody sweeps') await this.#probe.sweep(peer)
    if (move === 'somebody resets') await this.#probe.reset({ subject, store: peer })
    if (move === 'other takes') return [(await this.#probe.take(PLAIN, { subject, store: peer })).outcome]
    const [party, what = ''] = move.split(' ') as [PartyName, string]
    if (!Object.hasOwn(PARTIES, party)) return []
    const { maxOverrun } = PARTIES[party]
    const common = { subject, store: party === 'one' ? store : peer, nonce: party }
    return this.#askHold(party, what, { ...common, overrun: 'charge', maxOverrun })
  }

  async #askHold(party: PartyName, what: string, options: HoldOptions): Promise<MoveAnswer> {
    const { cost, actual } = PARTIES[party]
    if (what === 'holds') {
      const reply: TakeReply = await this.#probe.hold(party, cost, { ...options, ttlMs: HOLD_MS, slot: this.#slot })
      return reply.outcome === 'admitted' ? [reply.outcome, reply.endsAt] : [reply.outcome]
    }
    if (what === 'extends' || what === 'adds') {
      const extension = what === 'extends'
      const reply = await (extension
        ? this.#probe.extend(party, EXTENSION_MS, options)
        : this.#probe.grow(party, GROWTH, options))
      return movedAnswer(reply.outcome, reply.endsAt, what)
    }
    if (what === 'cancels') {
      await this.#probe.released(party, options)
      return []
    }
    const [outcome, charged, uncharged] = await this.#probe.committed(party, { ...options, actual })
    return commitAnswer(outcome, Number(charged), Number(uncharged))
  }

  async #look(): Promise<View> {
    const subject = this.#subject
    const [startedAt, used, , slots = 0] = await this.#probe.states({ subject })
    const { holds } = await this.#probe.list({ subject })
    return [startedAt, used, slots, holds.map(({ id, endsAt, costs }) => [id, endsAt, costs.tokens])]
  }
}

function cloneOf({ clock, state }: ModelCounters): ModelCounters {
  return new ModelCounters(clock, copyOf(state))
}

/** Models as they are, and with all ended that is past its end. */
function eachEnded(models: readonly ModelCounters[]): readonly ModelCounters[] {
  return models.flatMap((model) => {
    const isDue = model.open().some(([, , endsAt]) => model.clock.now() >= endsAt)
    if (!isDue) return [model]
    const ended = cloneOf(model)
    ended.sweep()
    return [model, ended]
  })
}

function viewOf(model: ModelCounters, slot: boolean): View {
  const { startedAt, used } = model.windows.look(WINDOW.name, WINDOW.span) ?? { startedAt: -1, used: 0 }
  const open = model.open().filter(([, , endsAt]) => model.clock.now() < endsAt)
  const holds = open.map(([name, { costs }, endsAt]) => [name, endsAt, costs.tokens])
  return [startedAt, used, slot ? model.slotsTaken(SLOTS_NAME) : 0, holds]
}

/**
 * Plays every history of some moves in which two processes take, extend, grow, commit and cancel holds on one window and
 * its slots, while holds and windows end, somebody sweeps and resets, and a clock steps back where the harness can turn
 * it. Each answer and everything that can be seen after it have to be the model's.
 *
 * @param depth how many moves
 * @returns how many histories there were; 0 on a store that has no holds
 * @throws {Error} at the first difference, with the history that shows it
 */
export async function runHoldHistories(factory: StoreFactory, { depth = 4 }: { depth?: number } = {}): Promise<number> {
  const harness = await factory({})
  const context = contextOf(harness)
  let played = 0
  try {
    if (missingOf(context, 'holds') !== undefined) return played
    const canStep = missingOf(context, 'clock-steps') === undefined
    const moves = HOLD_MOVES.filter((move) => canStep || move !== 'the clock steps back')
    const schema = missingOf(context, 'concurrency') === undefined ? WITH_SLOTS : WITHOUT
    const probe = new HoldProbe(context.store, schema, [TOKENS, SLOTS].slice(0, schema.cells.length))
    for (const history of histories(depth, moves)) {
      const one = new HoldHistory(context, probe, `u${played}`)
      played++
      try {
        for (const move of history) await one.play(move)
      } catch (cause) {
        throw new Error(`a history of two holds goes wrong: ${history.join(', ')}`, { cause })
      }
    }
  } finally {
    await harness.stop()
  }
  return played
}
