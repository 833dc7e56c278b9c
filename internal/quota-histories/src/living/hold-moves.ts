import type { ModelCounters, ModelId, ModelLimit } from '@scoregw/quota-testkit/model'

/** One window of two minutes, and a concurrency limit. */
const WINDOW_MS = 120_000
export const TOKENS = 10
export const SLOTS = 1

/** Holds are shorter than the window, and an extension goes beyond it. In milliseconds. */
const HOLD_MS = 90_000
const EXTENSION_MS = 150_000
/** How far back the clock steps, in milliseconds: less than the grace of any store. */
const STEP_BACK_MS = 3_000

/** The holds of the two processes, and the final cost of their work. */
export const PARTIES = {
  one: { cost: 4, actual: 8, maxOverrun: 2 },
  other: { cost: 3, actual: 1, maxOverrun: 0 },
} as const
export type PartyName = keyof typeof PARTIES

/** Tokens that a hold grows by, and those that are charged without a hold. */
export const GROWTH = 2
export const PLAIN = 3

export const HOLD_MOVES = [
  'one holds',
  'one extends',
  'one adds',
  'one commits',
  'one cancels',
  'other holds',
  'other takes',
  'other commits',
  'other cancels',
  'a hold ends',
  'peer sweeps',
  'peer resets',
  'the window ends',
  'the clock steps back',
] as const
export type HoldMove = (typeof HOLD_MOVES)[number]

/** A model's names for the window and its slots. */
const WINDOW_NAME = 'window'
const UNIT = 'tokens'
export const SLOTS_NAME = 'slots'
export const WINDOW: ModelLimit = { name: WINDOW_NAME, span: { lengthMs: WINDOW_MS }, unit: UNIT, limit: TOKENS }

function idOfParty(party: PartyName): ModelId {
  return { name: party, holder: party, use: 'hold', ttlMs: 600_000 }
}

/** The comparable part of an answer, as short as possible; empty for moves without an answer. */
export type MoveAnswer = readonly (string | number | undefined)[]

/** How far a move turns the clock, in milliseconds; `undefined` if it is impossible in this state. */
export function turnOf(model: ModelCounters, move: HoldMove): number | undefined {
  const now = model.clock.now()
  if (move === 'the clock steps back') return -STEP_BACK_MS
  if (move === 'a hold ends') {
    const next = model.open().find(([, , endsAt]) => endsAt > now)
    return next && next[2] - now
  }
  if (move !== 'the window ends') return 0
  const [end] = model.windows.ends()
  return end === undefined || end <= now ? undefined : end - now
}

/** Makes a move on a model, after the clock was turned. */
export function moveModel(model: ModelCounters, move: HoldMove): MoveAnswer {
  if (move === 'peer sweeps') {
    model.sweep()
    return []
  }
  if (move === 'peer resets') {
    model.windows.close(WINDOW_NAME)
    return []
  }
  if (move === 'other takes') return [model.take({ costs: { [UNIT]: PLAIN }, windows: [WINDOW] }).outcome]
  const [party, what] = move.split(' ') as [PartyName, string]
  return Object.hasOwn(PARTIES, party) ? moveHold(model, party, what) : []
}

function moveHold(model: ModelCounters, party: PartyName, what: string): MoveAnswer {
  const id = idOfParty(party)
  const { cost, actual, maxOverrun } = PARTIES[party]
  if (what === 'holds') {
    const slots = [{ name: SLOTS_NAME, limit: SLOTS }]
    const hold = { owner: 'u', ttlMs: HOLD_MS, maxHolds: 100, slots }
    const { outcome, endsAt } = model.take({ costs: { [UNIT]: cost }, windows: [WINDOW], id, hold })
    return outcome === 'admitted' ? [outcome, endsAt] : [outcome]
  }
  if (what === 'extends' || what === 'adds') {
    const moved = what === 'adds' ? model.grow(id, { [UNIT]: GROWTH }, [WINDOW]) : model.extend(id, EXTENSION_MS)
    return movedAnswer(moved.outcome, moved.endsAt, what)
  }
  if (what === 'cancels') {
    // A cancel has no answer, so it doesn't matter whether it was the first.
    model.settleHold(id, { as: 'cancelled', actual: {}, overrun: 'charge', maxOverrun: {}, windows: [WINDOW] })
    return []
  }
  const { outcome, charged, uncharged } = model.settleHold(id, {
    as: 'committed',
    actual: { [UNIT]: actual },
    overrun: 'charge',
    maxOverrun: { [UNIT]: maxOverrun },
    windows: [WINDOW],
  })
  return commitAnswer(outcome, charged?.[UNIT], uncharged?.[UNIT])
}

/** The comparable part of an extension's or growth's answer. */
function movedAnswer(outcome: string, endsAt: number | undefined, what: string): MoveAnswer {
  if (outcome !== 'held') return [outcome]
  return what === 'adds' ? [outcome, endsAt, GROWTH] : [outcome, endsAt]
}

/** The comparable part of a commit's answer. Both answers are right for an id that was cancelled before it was held. */
function commitAnswer(outcome: string, charged?: number, uncharged?: number): MoveAnswer {
  if (outcome === 'settled') return [outcome, charged, uncharged]
  return [outcome === 'unknown' || outcome === 'cancelled' ? 'nothing' : outcome]
}
