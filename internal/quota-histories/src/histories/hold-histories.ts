import assert from 'node:assert/strict'
import { cellsIn, slotsCell, windowCell } from '@scoregw/quota/internal'
import type { AsyncHolds, HoldRef, QuotaStore, SyncHolds } from '@scoregw/quota/store'
import { missingOf, type StoreFactory, type StoreHarness } from '@scoregw/quota-testkit'
import { copyOf, ModelCounters, type ModelState } from '@scoregw/quota-testkit/model'
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
} from '../living/hold-moves.ts'
import { cellsOf, idOf, oneRow, playAll, Requests } from './requests.ts'

const WINDOW_CELL = windowCell({ label: '2m', lengthMs: WINDOW_MS })
const WITHOUT = oneRow(cellsIn(['tokens'], [WINDOW_CELL]))
const WITH_SLOTS = oneRow(cellsIn(['tokens'], [WINDOW_CELL, slotsCell('running')]))

/** The visible state: the window's start and tokens, the used slots, the open holds with their ends. */
type View = readonly unknown[]

/** Skips moves that show nothing new: a party that never had a hold has little to do. */
function isWorthwhile(history: readonly HoldMove[], move: HoldMove): boolean {
  const [party, what] = move.split(' ')
  const earlier = (name: HoldMove): number => history.filter((each) => each === name).length
  if (history.length === 0) return what === 'holds' || what === 'takes' || move === 'one cancels'
  if (what === 'extends' || what === 'adds' || what === 'commits') return earlier(`${party} holds` as HoldMove) > 0
  return what !== 'sweeps' || history.at(-1) !== 'peer sweeps'
}

/** Every playable and worthwhile history of a length. */
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

/** Plays one history for a new subject, and reads everything after every move. */
class HoldHistory {
  readonly #harness: StoreHarness
  readonly #requests: Requests
  readonly #subject: string
  readonly #slot: boolean
  /** The possible states of the store. A hold past its end may have ended or not, until a sweep or call decides. */
  #candidates: readonly ModelCounters[]

  constructor(harness: StoreHarness, requests: Requests, subject: string) {
    this.#harness = harness
    this.#requests = requests
    this.#subject = subject
    this.#slot = requests.schema === WITH_SLOTS
    this.#candidates = [new ModelCounters(harness.clock)]
  }

  async play(move: HoldMove): Promise<void> {
    const [expected] = this.#candidates
    if (expected === undefined) throw new RangeError('no model is left')
    await this.#turn(turnOf(expected, move) ?? 0)
    const answer = await this.#request(move)
    const view = await this.#record()
    const seen = JSON.stringify([answer, view])
    const possible = eachEnded(this.#candidates).flatMap((candidate) => {
      const model = cloneOf(candidate)
      const due = moveModel(model, move)
      return eachEnded([model]).map((each) => ({ model: each, due: [due, viewOf(each, this.#slot)] }))
    })
    const agreeing = possible.filter(({ due }) => JSON.stringify(due) === seen)
    if (agreeing.length === 0) assert.deepEqual([answer, view], possible.at(-1)?.due, `after "${move}"`)
    // Reading the holds may have ended expired ones, after the windows were read.
    this.#candidates = eachEnded(agreeing.slice(0, 4).map(({ model }) => model))
  }

  async #turn(ms: number): Promise<void> {
    if (ms > 0) await this.#harness.advance(ms)
    else if (ms < 0) await this.#harness.stepClock?.(ms)
  }

  get #peer(): QuotaStore {
    return this.#harness.peer ?? this.#harness.store
  }

  async #request(move: HoldMove): Promise<MoveAnswer> {
    const subject = this.#subject
    if (move === 'peer sweeps') await this.#sweep()
    if (move === 'peer resets') await this.#requests.reset(this.#peer, subject)
    if (move === 'other takes') return [(await this.#requests.take(this.#peer, subject, PLAIN)).outcome]
    const [party, what = ''] = move.split(' ') as [PartyName, string]
    if (!Object.hasOwn(PARTIES, party)) return []
    return this.#askHold(party, what, party === 'one' ? this.#harness.store : this.#peer)
  }

  async #askHold(party: PartyName, what: string, store: QuotaStore): Promise<MoveAnswer> {
    const { cost, actual, maxOverrun } = PARTIES[party]
    const ref: HoldRef = { subject: this.#subject, id: idOf(party) }
    const holds = this.#holds(store)
    if (what === 'holds') {
      const request = { ...this.#requests.of(this.#subject, cost, this.#slot), id: ref.id }
      const { outcome, endsAt } = await this.#requests
        .on(store)
        .take({ ...request, hold: { ttlMs: HOLD_MS, maxHolds: 100 } })
      return outcome === 'admitted' ? [outcome, endsAt] : [outcome]
    }
    const { set, quotas, costs } = this.#requests.of(this.#subject, GROWTH)
    if (what === 'extends' || what === 'adds') {
      const reply = await (what === 'extends'
        ? holds.extend({ ...ref, ttlMs: EXTENSION_MS })
        : holds.grow({ ...ref, set, quotas, costs }))
      return movedAnswer(reply.outcome, reply.endsAt, what)
    }
    const most = { overrun: 'charge', maxOverrun: [maxOverrun], set, quotas } as const
    if (what === 'cancels') {
      await holds.settle({ ...ref, as: 'cancelled', ...most })
      return []
    }
    const { outcome, charged, uncharged } = await holds.settle({ ...ref, as: 'committed', actual: [actual], ...most })
    return commitAnswer(outcome, charged[0], uncharged[0])
  }

  #holds(store: QuotaStore): SyncHolds | AsyncHolds {
    const { holds } = this.#requests.on(store)
    assert.ok(holds !== undefined, 'a store that can hold has counters with `holds`')
    return holds
  }

  /** Sweeps until no hold is left to end. */
  async #sweep(): Promise<void> {
    while ((await this.#holds(this.#peer).sweep()).ended.length > 0);
  }

  async #record(): Promise<View> {
    const subject = this.#subject
    const { store } = this.#harness
    const [startedAt, used, , slots = 0] = await this.#requests.read(store, subject)
    const { holds } = await this.#holds(store).list({ subject })
    return [startedAt, used, slots, holds.map(({ id, endsAt, costs }) => [id, endsAt, costs.tokens])]
  }
}

function cloneOf({ clock, state }: ModelCounters): ModelCounters {
  return new ModelCounters(clock, copyOf(state))
}

/** Models unchanged, and with all expired holds ended. */
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
  const { startedAt, used } = model.windows.open(WINDOW.name, WINDOW.span) ?? { startedAt: -1, used: 0 }
  const open = model.open().filter(([, , endsAt]) => model.clock.now() < endsAt)
  const holds = open.map(([name, { costs }, endsAt]) => [name, endsAt, costs.tokens])
  return [startedAt, used, slot ? model.slotsTaken(SLOTS_NAME) : 0, holds]
}

/**
 * Plays every history of some moves in which two processes take, extend, grow, commit and cancel holds on one window
 * and its slots. Meanwhile holds and windows end, a peer sweeps and resets, and the clock steps back if the harness can
 * set it. Each answer, and the visible state after it, must match the model.
 *
 * @param depth the number of moves
 * @returns the number of histories; 0 on a store without holds
 * @throws {Error} at the first difference, with the history that shows it
 */
export async function runHoldHistories(factory: StoreFactory, { depth = 4 }: { depth?: number } = {}): Promise<number> {
  const harness = await factory({})
  let played = 0
  try {
    if (missingOf(harness, 'holds') !== undefined) return played
    const canStep = missingOf(harness, 'clock-steps') === undefined
    const moves = HOLD_MOVES.filter((move) => canStep || move !== 'the clock steps back')
    const schema = missingOf(harness, 'concurrency') === undefined ? WITH_SLOTS : WITHOUT
    const requests = new Requests(schema, [TOKENS, SLOTS].slice(0, cellsOf(schema).length))
    for (const history of histories(depth, moves)) {
      const one = new HoldHistory(harness, requests, `u${played}`)
      played++
      await playAll('two holds', history, (move) => one.play(move))
    }
  } finally {
    await harness.stop()
  }
  return played
}
