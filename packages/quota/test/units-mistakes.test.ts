import { type Mistake, testMistakes } from '@scoregw/mistakes'
import { describe } from 'vitest'
import { createQuota, definePolicy } from '../src/index.ts'
import { SUBJECT, unitsPolicy, usd } from './units-policy.ts'

/** A value that JavaScript, or a cast, lets through. */
type Anything = never

const quota = createQuota({ policy: unitsPolicy })
const one = createQuota({
  limits: { perHour: { by: 'user', limit: 10, of: 'tokens', per: '1h' } },
  unit: 'tokens',
  operations: { go: { cost: 1 } },
})

/** A policy that counts requests, tokens and money, with this operation. */
function operation(late: object): Mistake['make'] {
  const limits = {
    requests: { by: 'user', limit: 5, per: '1m' },
    tokens: { by: 'user', limit: 5, of: 'tokens', per: '1m' },
    budget: { by: 'user', limit: usd(5), of: usd, per: '30d' },
  }
  return () => definePolicy({ limits, operations: { late } } as Anything)
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

const COUNTS = 'requests, tokens, usd'
const MONEY = 'an amount of money, such as usd(1) of money("USD")'

const ofPolicies: readonly Mistake[] = [
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
    make: operation({ overrun: 'charge', maxOverrun: 5 }),
    code: 'invalid_policy',
    says: [`operations.late.maxOverrun: this policy counts ${COUNTS}: write { tokens: 5 }`],
  },
  {
    written: "overrun: 'charge' with maxOverrun: { tokens: 5 }",
    make: operation({ overrun: 'charge', maxOverrun: { tokens: 5 } }),
    code: 'invalid_policy',
    says: ['operations.late.maxOverrun.usd: missing; this unit has limits: use 0 to charge no overrun'],
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
  ...[1, '1', { EUR: '1.00' }].map((amount) => ({
    written: `cost: { usd: ${JSON.stringify(amount)} }`,
    make: cost({ usd: amount }),
    code: 'invalid_cost',
    says: [`cost.usd: expected ${MONEY}, got`],
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
