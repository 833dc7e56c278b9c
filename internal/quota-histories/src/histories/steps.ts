import type { CalendarAnchor, Threshold } from '@scoregw/quota/internal'
import * as fc from 'fast-check'

/** Indexes wrap around the number of items, so that every step fits every scene. */
interface Who {
  readonly engine: number
  readonly subject: number
}

interface RequestFields extends Who {
  readonly operation: number
  /** What replaces the operation's price. */
  readonly cost?: number | undefined
  readonly plan?: string | undefined
  /** A number of the request, and for which limit. */
  readonly limits?: OwnNumber | undefined
}

/** The number of one of the subject's own limits, by index. */
interface OwnNumber {
  readonly limit: number
  readonly number: number | 'unlimited' | null
}

/** The things that end at some time. */
type EndOf = 'window' | 'id' | 'hold'

/** The next event of a history, as plain data. */
export type Step =
  | ({ readonly kind: 'consume' } & RequestFields)
  | ({ readonly kind: 'peek' } & RequestFields)
  | ({
      readonly kind: 'reserve'
      readonly id?: string | undefined
      readonly ttlMs?: number | undefined
    } & RequestFields)
  | { readonly kind: 'again'; readonly engine: number; readonly reservation: number }
  | { readonly kind: 'resume'; readonly engine: number; readonly reservation: number }
  | { readonly kind: 'commit'; readonly reservation: number; readonly percent: number }
  | { readonly kind: 'cancel'; readonly reservation: number }
  | { readonly kind: 'extend'; readonly reservation: number; readonly ttlMs: number }
  | { readonly kind: 'add'; readonly reservation: number; readonly cost: number }
  | ({ readonly kind: 'reset'; readonly limits?: readonly number[] | undefined } & Who)
  | { readonly kind: 'limit'; readonly engine: number; readonly limit: number; readonly number: number | 'unlimited' }
  | { readonly kind: 'mode'; readonly engine: number; readonly mode: 'conservative' | 'normal' | 'lenient' }
  | { readonly kind: 'custom'; readonly engine: number; readonly number: number | 'unlimited' }
  | { readonly kind: 'site'; readonly engine: number; readonly enabled: boolean; readonly multiplier: number }
  | { readonly kind: 'price'; readonly engine: number; readonly operation: number; readonly cost: number }
  | {
      readonly kind: 'shadow'
      readonly engine: number
      /** One limit, or all of one layer. */
      readonly limit: number
      readonly isLayer: boolean
      /** `null`: as the policy says. */
      readonly isOn: boolean | null
    }
  | {
      readonly kind: 'thresholds'
      readonly engine: number
      /** `null` for the engine's own. */
      readonly thresholds: readonly Threshold[] | null
    }
  | ({
      readonly kind: 'plan'
      readonly plan: string
      readonly limit: number
      readonly number: number | 'unlimited'
    } & Who)
  | ({
      readonly kind: 'override'
      readonly limit: number
      readonly number: number | 'unlimited' | null
      readonly blocked: boolean
      readonly bypass: boolean
      readonly plan: string | null
      /** Milliseconds from now; `null` for no end. */
      readonly until: number | null
      /** The beginning of the subject's own periods. */
      readonly anchor: CalendarAnchor | null
    } & Who)
  | ({ readonly kind: 'forget' } & Who)
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'to-end'; readonly of: EndOf; readonly end: number; readonly offsetMs: -1 | 0 | 1 }
  | { readonly kind: 'step-back'; readonly ms: number }
  | { readonly kind: 'policy'; readonly engine: number; readonly policy: number }

export type StepOf<K extends Step['kind']> = Extract<Step, { readonly kind: K }>

const engine = fc.nat({ max: 1 })
const index = fc.nat({ max: 3 })
const who = { engine, subject: index }
const cost = fc.option(fc.nat({ max: 12 }), { nil: undefined, freq: 3 })
const plan = fc.constantFrom(undefined, undefined, 'small', 'large', 'unknown')

const until = fc.option(fc.nat({ max: 4_000_000 }), { nil: null })
const ttlMs = fc.constantFrom(1, 5_000, 60_000, 900_000, 7_200_000)
const number = fc.oneof(fc.nat({ max: 30 }), fc.constant('unlimited' as const))
const limits = fc.option(fc.record({ limit: index, number: fc.option(number, { nil: null }) }), {
  nil: undefined,
  freq: 2,
})
const requestFields = { ...who, operation: fc.nat({ max: 6 }), cost, plan, limits }
const kind = <K extends string>(name: K): fc.Arbitrary<K> => fc.constant(name)

const consume = fc.record({ kind: kind('consume'), ...requestFields })
const reserve = fc.record({
  kind: kind('reserve'),
  ...requestFields,
  id: fc.constantFrom(undefined, 'i', 'j'),
  ttlMs: fc.option(ttlMs, { nil: undefined }),
})
const commit = fc.record({ kind: kind('commit'), reservation: fc.nat({ max: 20 }), percent: fc.nat({ max: 100 }) })
const cancel = fc.record({ kind: kind('cancel'), reservation: fc.nat({ max: 20 }) })
const toEnd = fc.record({
  kind: kind('to-end'),
  of: fc.constantFrom<EndOf>('window', 'window', 'id'),
  end: fc.nat({ max: 40 }),
  offsetMs: fc.constantFrom<-1 | 0 | 1>(-1, 0, 1),
})
const advance = fc.record({
  kind: kind('advance'),
  ms: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 2_000 }), fc.nat({ max: 700_000 }), fc.nat({ max: 90_000_000 })),
})
const stepBack = fc.record({
  kind: kind('step-back'),
  ms: fc.oneof(fc.integer({ min: 1, max: 4_000 }), fc.constantFrom(3_999, 4_000)),
})
const reset = fc.record({
  kind: kind('reset'),
  ...who,
  limits: fc.option(fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 4 }), { nil: undefined }),
})
const mode = fc.record({
  kind: kind('mode'),
  engine,
  mode: fc.constantFrom('conservative' as const, 'normal' as const, 'lenient' as const),
})
const site = fc.record({
  kind: kind('site'),
  engine,
  enabled: fc.boolean(),
  multiplier: fc.integer({ min: 25, max: 400 }).map((hundredths) => hundredths / 100),
})

const policy = fc.record({ kind: kind('policy'), engine, policy: fc.nat({ max: 9 }) })

/** Steps about limits of every kind, also for stores with only rolling windows. Common steps appear more often. */
const USUAL_STEPS: readonly fc.Arbitrary<Step>[] = [
  consume,
  consume,
  consume,
  fc.record({ kind: kind('peek'), ...requestFields }),
  reserve,
  reserve,
  fc.record({ kind: kind('again'), engine, reservation: fc.nat({ max: 20 }) }),
  commit,
  cancel,
  cancel,
  toEnd,
  toEnd,
  toEnd,
  advance,
  stepBack,
  stepBack,
  reset,
  mode,
  fc.record({ kind: kind('custom'), engine, number }),
  fc.record({ kind: kind('limit'), engine, limit: fc.nat({ max: 20 }), number }),
  site,
  fc.record({ kind: kind('price'), engine, operation: index, cost: fc.nat({ max: 8 }) }),
  fc.record({
    kind: kind('override'),
    ...who,
    limit: fc.nat({ max: 8 }),
    number: fc.option(number, { nil: null }),
    blocked: fc.constantFrom(false, false, false, false, true),
    bypass: fc.boolean(),
    plan: fc.constantFrom(null, null, 'small', 'large'),
    until,
    anchor: fc.constantFrom(null, { day: 15 }, { day: 31, time: '06:30' }),
  }),
  fc.record({ kind: kind('forget'), ...who }),
  policy,
  policy,
]

const shadow = fc.record({
  kind: kind('shadow'),
  engine,
  limit: fc.nat({ max: 20 }),
  isLayer: fc.boolean(),
  isOn: fc.constantFrom(true, true, false, null),
})
const thresholds = fc.record({
  kind: kind('thresholds'),
  engine,
  thresholds: fc.constantFrom(null, [], [{ share: 0.5 }, { left: 3 }], [{ share: 1 }]),
})
const planChange = fc.record({
  kind: kind('plan'),
  ...who,
  plan: fc.constantFrom('small', 'large', 'new'),
  limit: fc.nat({ max: 8 }),
  number,
})

/** All possible steps, without those that need holds if there are none. */
export function stepsOf(canHold: boolean): readonly fc.Arbitrary<Step>[] {
  if (!canHold) return USUAL_STEPS
  return [
    ...USUAL_STEPS,
    shadow,
    thresholds,
    planChange,
    commit.chain((step) => fc.constantFrom(125, 150, 200, 300).map((percent) => ({ ...step, percent }))),
    fc.record({ kind: kind('extend'), reservation: fc.nat({ max: 20 }), ttlMs }),
    fc.record({ kind: kind('add'), reservation: fc.nat({ max: 20 }), cost: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ kind: kind('resume'), engine, reservation: fc.nat({ max: 20 }) }),
    fc.record({ kind: kind('resume'), engine, reservation: fc.nat({ max: 20 }) }),
    toEnd.map((step) => ({ ...step, of: 'hold' as const })),
    toEnd.map((step) => ({ ...step, of: 'hold' as const })),
  ]
}

/** The steps with a forward-running clock and without ids, which suffice to see the promises directly. */
export const PLAIN_STEPS: readonly fc.Arbitrary<Step>[] = [
  consume,
  consume,
  consume,
  reserve.map((step) => ({ ...step, id: undefined, ttlMs: undefined })),
  commit,
  cancel,
  toEnd,
  advance,
  reset,
  mode,
  site,
]
