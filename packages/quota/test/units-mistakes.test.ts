import { type Mistake, testMistakes } from '@scoregw/mistakes'
import { describe } from 'vitest'
import { createQuota, definePolicy } from '../src/index.ts'
import { SUBJECT, unitsPolicy } from './units-policy.ts'

/** A value that JavaScript, or a cast, lets through. */
type Anything = never

const quota = createQuota({ policy: unitsPolicy })
const one = createQuota({
  policy: definePolicy({
    windows: [{ label: '1h' }],
    categories: ['all'],
    layers: [{ name: 'user' }],
    operations: { go: { category: 'all', cost: 1 } },
    base: { user: { all: { '1h': 10 } } },
  }),
})

/** A policy with some members other than {@link unitsPolicy}'s. */
function policy(members: object): Mistake['make'] {
  return () => definePolicy({ ...unitsPolicy, ...members } as Anything)
}

function windows(...members: (object | undefined)[]): Mistake['make'] {
  return policy({ windows: members })
}

function operation(members: object): Mistake['make'] {
  return policy({ operations: { ...unitsPolicy.operations, late: { category: 'chat', ...members } } })
}

function cost(given: unknown): Mistake['make'] {
  return () => quota.consume({ subject: SUBJECT, operation: 'complete', cost: given as Anything })
}

async function held() {
  const hold = await quota.reserve({ subject: SUBJECT, operation: 'late', ttlMs: 60_000 })
  if (hold.status !== 'reserved') throw new Error(hold.status)
  await quota.reset(SUBJECT)
  return hold
}

const [requests, tokens, budget] = unitsPolicy.windows
const COUNTS = 'requests, tokens, microusd'

const ofPolicies: readonly Mistake[] = [
  {
    written: 'units: []',
    make: policy({ units: [] }),
    code: 'invalid_policy',
    says: ['units: expected 1 to 8 entries, got 0'],
  },
  {
    written: "units: ['slots', 'two words', 'constructor', 5]",
    make: policy({ units: ['slots', 'two words', 'constructor', 5] }),
    code: 'invalid_policy',
    says: ['units.0: expected', 'other than "slots", got "slots"', 'units.1', 'units.2', 'units.3'],
  },
  {
    written: "units: [{ name: 'microusd', format: { currency: 'dollar', scale: 99 } }, { nmae: 'tokens' }]",
    make: policy({ units: [{ name: 'microusd', format: { currency: 'dollar', scale: 99 } }, { nmae: 'tokens' }] }),
    code: 'invalid_policy',
    says: ['units.0.format.currency: expected a currency', 'units.0.format.scale', 'units.1.nmae: unknown key'],
  },
  {
    written: "units: ['requests', 'tokens', 'requests', ..]",
    make: policy({ units: ['requests', 'tokens', 'requests', 'microusd'] }),
    code: 'invalid_policy',
    says: ['units.2: "requests" appears twice'],
  },
  {
    written: "units: [.., 'bytes'] that no window counts",
    make: policy({ units: ['requests', 'tokens', 'microusd', 'bytes'] }),
    code: 'invalid_policy',
    says: ['units.3: no window counts bytes: give one unit: "bytes"'],
  },
  {
    written: 'a window without unit where there are several',
    make: windows(requests, { label: 'tokens-1m', per: '1m' }, budget),
    code: 'invalid_policy',
    says: [`windows.1.unit: missing; expected one of ${COUNTS}`],
  },
  {
    written: "a window with unit: 'token'",
    make: windows(requests, { ...tokens, unit: 'token' }, tokens, budget),
    code: 'invalid_policy',
    says: ['windows.1.unit: not a unit: "token"; did you mean "tokens"?'],
  },
  {
    written: 'two windows of one label and two units',
    make: windows(requests, { ...tokens, label: '1m' }, budget),
    code: 'invalid_policy',
    says: ['windows: "1m" appears twice'],
  },
  {
    written: "{ label: 'short', per: '1 minute' }",
    make: windows({ label: 'short', per: '1 minute', unit: 'requests' }, tokens, budget),
    code: 'invalid_policy',
    says: ['windows.0.per: expected a time like "30s"', 'got "1 minute"'],
  },
  {
    written: "{ label: 'short', per: '1m', lengthMs: 60_000 }",
    make: windows({ label: 'short', per: '1m', lengthMs: 60_000, unit: 'requests' }, tokens, budget),
    code: 'invalid_policy',
    says: ['windows.0: use one of `per`, `lengthMs` and `every'],
  },
  {
    written: "{ label: 'short' } that says no length",
    make: windows({ label: 'short', unit: 'requests' }, tokens, budget),
    code: 'invalid_policy',
    says: ['windows.0.per: missing; expected a time like "30s"'],
  },
  {
    written: 'a price that is a number where there are several units',
    make: operation({ cost: 5 }),
    code: 'invalid_policy',
    says: [`operations.late.cost: this policy counts ${COUNTS}: write { tokens: 5 }`],
  },
  {
    written: 'cost: { token: 5 }',
    make: operation({ cost: { token: 5 } }),
    code: 'invalid_policy',
    says: [`operations.late.cost.token: not a unit: "token"; the policy counts ${COUNTS}`],
  },
  {
    written: 'cost: { tokens: 0.5 }',
    make: operation({ cost: { tokens: 0.5 } }),
    code: 'invalid_policy',
    says: ['operations.late.cost.tokens: expected a whole number of tokens, 0 or more, got 0.5'],
  },
  {
    written: 'cost: {}',
    make: operation({ cost: {} }),
    code: 'invalid_policy',
    says: ['operations.late.cost: expected an amount of some unit, got none'],
  },
  {
    written: "overrun: 'charge' with maxOverrun: 5",
    make: operation({ cost: { requests: 1 }, overrun: 'charge', maxOverrun: 5 }),
    code: 'invalid_policy',
    says: [`operations.late.maxOverrun: this policy counts ${COUNTS}: write { tokens: 5 }`],
  },
  {
    written: "overrun: 'charge' with maxOverrun: { tokens: 5 }",
    make: operation({ cost: { requests: 1 }, overrun: 'charge', maxOverrun: { tokens: 5 } }),
    code: 'invalid_policy',
    says: ['operations.late.maxOverrun.requests: missing', 'operations.late.maxOverrun.microusd: missing'],
  },
  {
    written: 'a limit of money that is no whole number',
    make: policy({ base: { ...unitsPolicy.base, user: { chat: { ...unitsPolicy.base.user.chat, budget: 0.05 } } } }),
    code: 'invalid_policy',
    says: ['base.user.chat.budget: expected a whole number of microusd from 0', 'got 0.05'],
  },
  {
    written: 'createQuota({ policy, thresholds: [{ left: 5 }] })',
    make: () => createQuota({ policy: unitsPolicy, thresholds: [{ left: 5 }] as Anything }),
    code: 'invalid_options',
    says: [`thresholds.0.unit: missing; expected a unit: ${COUNTS}, slots`],
  },
]

const ofRequests: readonly Mistake[] = [
  {
    written: 'cost: 812',
    make: cost(812),
    code: 'invalid_cost',
    says: [`cost: this policy counts ${COUNTS}: write { tokens: 812 }`],
  },
  {
    written: 'cost: {}',
    make: cost({}),
    code: 'invalid_cost',
    says: [`cost: expected an amount of some unit, got none; the policy counts ${COUNTS}`],
  },
  {
    written: 'cost: [1, 2, 3]',
    make: cost([1, 2, 3]),
    code: 'invalid_cost',
    says: ['cost: expected amounts by unit, as { tokens: 812 }, got an array'],
  },
  {
    written: 'cost: { token: 812 }',
    make: cost({ token: 812 }),
    code: 'invalid_cost',
    says: [`cost.token: not a unit: "token"; the policy counts ${COUNTS}`],
  },
  {
    written: 'cost: { slots: 1 }',
    make: cost({ slots: 1 }),
    code: 'invalid_cost',
    says: [`cost.slots: not a unit: "slots"; the policy counts ${COUNTS}`],
  },
  ...([0.5, -1, 2 ** 53, Number.NaN, '5', null] as const).map((amount) => ({
    written: `cost: { tokens: ${JSON.stringify(amount)} } (${String(amount)})`,
    make: cost({ tokens: amount }),
    code: 'invalid_cost',
    says: ['cost.tokens: expected a whole number of tokens, 0 or more, got', `the policy counts ${COUNTS}`],
  })),
  {
    written: 'cost: { token: 5 } where the policy counts tokens alone',
    make: () => one.consume({ subject: 'u', operation: 'go', cost: { token: 5 } as Anything }),
    code: 'invalid_cost',
    says: ['cost.token: not a unit: "token"; the policy counts tokens'],
  },
  {
    written: 'commit(812)',
    make: async () => (await held()).commit(812 as Anything),
    code: 'invalid_cost',
    says: [`commit: this policy counts ${COUNTS}: write { tokens: 812 }`],
  },
  {
    written: 'commit({ requets: 1 })',
    make: async () => (await held()).commit({ requets: 1 } as Anything),
    code: 'invalid_cost',
    says: [`commit.requets: not a unit: "requets"; the policy counts ${COUNTS}`],
  },
  {
    written: 'add({ tokens: 0 })',
    make: async () => (await held()).add({ tokens: 0 }),
    code: 'invalid_cost',
    says: ['add: expected more than 0 of some unit'],
  },
  {
    written: 'add(5)',
    make: async () => (await held()).add(5 as Anything),
    code: 'invalid_cost',
    says: ['add: this policy counts'],
  },
]

describe('mistakes with units', () => testMistakes([...ofPolicies, ...ofRequests], './units-mistakes.txt'))
