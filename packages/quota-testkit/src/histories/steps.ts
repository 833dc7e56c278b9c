import * as fc from 'fast-check'

/** Indices are taken modulo what is there, so that every step fits every scene. */
interface Who {
  readonly engine: number
  readonly subject: number
}

interface Asking extends Who {
  readonly operation: number
  /** Tokens instead of the operation's price. */
  readonly cost?: number | undefined
}

/** What happens next in a history: plain data. */
export type Step =
  | ({ readonly kind: 'consume' } & Asking)
  | ({ readonly kind: 'peek' } & Asking)
  | ({ readonly kind: 'reserve'; readonly id?: string | undefined } & Asking)
  | { readonly kind: 'again'; readonly engine: number; readonly reservation: number }
  | { readonly kind: 'commit'; readonly reservation: number; readonly percent: number }
  | { readonly kind: 'cancel'; readonly reservation: number }
  | ({ readonly kind: 'reset'; readonly layer?: number | undefined; readonly category?: number | undefined } & Who)
  | { readonly kind: 'mode'; readonly engine: number; readonly mode: 'conservative' | 'normal' | 'lenient' }
  | { readonly kind: 'custom'; readonly engine: number; readonly limit: number | 'unlimited' }
  | { readonly kind: 'site'; readonly engine: number; readonly enabled: boolean; readonly multiplier: number }
  | { readonly kind: 'price'; readonly engine: number; readonly operation: number; readonly cost: number }
  | ({
      readonly kind: 'override'
      readonly window: number
      readonly category: number
      readonly limit: number | 'unlimited' | null
      readonly bypass: boolean
    } & Who)
  | ({ readonly kind: 'forget' } & Who)
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'to-end'; readonly of: 'window' | 'id'; readonly end: number; readonly offsetMs: -1 | 0 | 1 }
  | { readonly kind: 'step-back'; readonly ms: number }
  | { readonly kind: 'policy'; readonly engine: number; readonly policy: number }

const engine = fc.nat({ max: 1 })
const index = fc.nat({ max: 3 })
const who = { engine, subject: index }
const cost = fc.option(fc.nat({ max: 12 }), { nil: undefined, freq: 3 })
const asking = { ...who, operation: index, cost }
const limit = fc.oneof(fc.nat({ max: 30 }), fc.constant('unlimited' as const))
const kind = <K extends string>(name: K): fc.Arbitrary<K> => fc.constant(name)

const consume = fc.record({ kind: kind('consume'), ...asking })
const reserve = fc.record({ kind: kind('reserve'), ...asking, id: fc.constantFrom(undefined, 'i', 'j') })
const commit = fc.record({ kind: kind('commit'), reservation: fc.nat({ max: 20 }), percent: fc.nat({ max: 100 }) })
const cancel = fc.record({ kind: kind('cancel'), reservation: fc.nat({ max: 20 }) })
const toEnd = fc.record({
  kind: kind('to-end'),
  of: fc.constantFrom('window' as const, 'window' as const, 'id' as const),
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
  layer: fc.option(index, { nil: undefined }),
  category: fc.option(index, { nil: undefined }),
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

/** Everything that can happen, the ordinary more often than the rare. */
export const ANY_STEP: readonly fc.Arbitrary<Step>[] = [
  consume,
  consume,
  consume,
  fc.record({ kind: kind('peek'), ...asking }),
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
  fc.record({ kind: kind('custom'), engine, limit }),
  site,
  fc.record({ kind: kind('price'), engine, operation: index, cost: fc.nat({ max: 8 }) }),
  fc.record({
    kind: kind('override'),
    ...who,
    window: fc.nat({ max: 4 }),
    category: index,
    limit: fc.option(limit, { nil: null }),
    bypass: fc.boolean(),
  }),
  fc.record({ kind: kind('forget'), ...who }),
  policy,
  policy,
]

/** What happens where time only goes forward and no id is used: enough to see the promises directly. */
export const PLAIN_STEPS: readonly fc.Arbitrary<Step>[] = [
  consume,
  consume,
  consume,
  reserve.map((step) => ({ ...step, id: undefined })),
  commit,
  cancel,
  toEnd,
  advance,
  reset,
  mode,
  site,
]
