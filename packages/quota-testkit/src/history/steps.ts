import type { StoreAbilities } from '@scoregw/quota/store'
import fc from 'fast-check'
import { TURN } from './schemas.ts'

const UNITS = 3
const PLAIN = ['take', 'take', 'take', 'read', 'settle', 'reset', 'wait', 'wait'] as const
const OF_HOLDS = ['hold', 'hold', 'hold', 'grow', 'extend', 'end', 'end', 'end', 'list', 'sweep'] as const
const UNLIMITED = Number.POSITIVE_INFINITY
/** Mostly room: one limit without it refuses the whole request. */
const LIMITS = [0, 3, 6, 9, 15, 20, 30, 30, 50, 50, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED]

type Kind = (typeof PLAIN)[number] | (typeof OF_HOLDS)[number] | 'once' | 'back'

/** One step of a history. Each kind uses some of the members. */
export interface Step {
  readonly kind: Kind
  /** Which of the store's two clients makes the call, and under which of the history's two schemas. */
  readonly client: number
  readonly schema: number
  readonly set: number
  readonly user: number
  /** In which layers the subject has a key. */
  readonly keys: 'user and team' | 'user' | 'team'
  readonly layers: readonly number[]
  /** Of every seventh position the same. */
  readonly limits: readonly number[]
  /** How many tokens come back to buckets per length. */
  readonly rate: number
  readonly id: number
  readonly amounts: readonly number[]
  readonly more: readonly number[]
  /** The lifetime of a hold, or how long to wait. */
  readonly ms: number
  readonly as: 'committed' | 'cancelled'
  readonly overrun: 'refuse' | 'charge' | 'fit'
  readonly isPart: boolean
}

/** Which steps a store and its harness can play. */
export interface Playable {
  readonly can: StoreAbilities
  readonly hasIds: boolean
  readonly canStepClock: boolean
}

/** Random steps. Common ones appear more often. */
export function stepsFor({ can, hasIds, canStepClock }: Playable): fc.Arbitrary<Step> {
  const kinds: Kind[] = [
    ...PLAIN,
    ...(hasIds ? (['once', 'once'] as const) : []),
    ...(canStepClock ? (['back'] as const) : []),
    ...(can.holds === true ? OF_HOLDS : []),
  ]
  const amounts = fc.array(fc.nat(4), { minLength: UNITS, maxLength: UNITS })
  return fc.record<Step>({
    kind: fc.constantFrom(...kinds),
    client: fc.nat(1),
    schema: fc.nat(1),
    set: fc.nat(3),
    user: fc.constantFrom(0, 0, 0, 1),
    keys: fc.constantFrom('user and team', 'user and team', 'user and team', 'user', 'team'),
    layers: fc.oneof(fc.constant([0, 1, 2, 3]), fc.subarray([0, 1, 2, 3], { minLength: 1 })),
    limits: fc.array(fc.constantFrom(...LIMITS), { minLength: TURN, maxLength: TURN }),
    rate: fc.nat(12),
    id: fc.constantFrom(0, 0, 1),
    amounts,
    more: amounts,
    ms: fc.integer({ min: 1, max: 60 }),
    as: fc.constantFrom('committed', 'cancelled'),
    overrun: can.fit === true ? fc.constantFrom('refuse', 'charge', 'fit', 'fit') : fc.constantFrom('refuse', 'charge'),
    isPart: fc.boolean(),
  })
}
