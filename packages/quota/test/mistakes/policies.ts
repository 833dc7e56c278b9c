import type { Mistake } from '@scoregw/mistakes'
import { createQuota, definePolicy, money, parsePolicy } from '../../src/index.ts'
import { scoreGatewayPolicy } from '../../src/score-gateway.ts'

/** A value that JavaScript, or a cast, lets through. */
type Anything = never

const usd = money('USD')
const perMinute = { by: 'user', limit: 20, per: '1m' }

/** @param says parts of the message */
function mistake(written: string, members: object, ...says: readonly string[]): Mistake {
  return { written, make: () => definePolicy(members as Anything), code: 'invalid_policy', says }
}

/** A mistake in the limit `api`, with other members of the policy where it needs them. */
function inLimit(written: string, api: unknown, says: readonly string[], members: object = {}): Mistake {
  return mistake(written, { limits: { api }, ...members }, ...says)
}

/** A mistake in the operation `save`. */
function inOperation(written: string, save: unknown, ...says: readonly string[]): Mistake {
  return mistake(written, { limits: { perMinute }, operations: { save } }, ...says)
}

const A_TIME = 'a text like "250ms", "30s", "15m", "12h" or "30d"'

const times: readonly Mistake[] = [
  ...(
    [
      ['1 minute', '"1m"'],
      ['2 weeks', '"14d"'],
      ['1mo', 'every: "month"'],
      ['1.5h', '"90m"'],
      [60_000, '"1m"'],
      ['0s', A_TIME],
      ['367d', A_TIME],
    ] as const
  ).map(([per, right]) => {
    const shown = JSON.stringify(per)
    return inLimit(`per: ${shown}`, { by: 'user', limit: 20, per }, ['limits.api.per: expected', shown, right])
  }),
  inLimit('no time', { by: 'user', limit: 20 }, ['limits.api.per: missing; expected a text like']),
  inLimit("per: '1d', every: 'day', timeZone: 'UTC'", { ...perMinute, every: 'day', timeZone: 'UTC' }, [
    'limits.api.every: a limit has one time: remove `per` or `every`',
  ]),
  inLimit('windowMs: 60_000, max: 20', { by: 'user', windowMs: 60_000, max: 20 }, [
    'limits.api.per: missing',
    'limits.api.windowMs: unknown key; use `per`',
    'limits.api.max: unknown key; use `limit`',
  ]),
  inLimit("every: 'mont', timezone: 'UTC'", { by: 'user', limit: 20, every: 'mont', timezone: 'UTC' }, [
    'limits.api.every: expected "hour" or "day"',
    'limits.api.timezone: unknown key; did you mean "timeZone"?',
  ]),
  inLimit("timeZone: 'UTC' without every", { by: 'user', limit: 20, timeZone: 'UTC' }, ['limits.api.every: missing']),
  inLimit("timeZone: 'shanghai'", { by: 'user', limit: 20, every: 'day', timeZone: 'shanghai' }, [
    'limits.api.timeZone: expected an IANA time zone',
    'did you mean "Asia/Shanghai"?',
  ]),
]

const limits: readonly Mistake[] = [
  inLimit('burts: 5', { ...perMinute, burts: 5 }, ['limits.api.burts: unknown key; did you mean "burst"?']),
  inLimit('burst: 21 of limit: 20', { ...perMinute, burst: 21 }, [
    'limits.api.burst: at most the limit, 20; for a larger burst give a longer `per`',
  ]),
  inLimit('burst: 0', { ...perMinute, burst: 0 }, ['limits.api.burst: expected', '1 to the limit, or { share: 0.2 }']),
  inLimit('burst: { share: 1.5 }', { ...perMinute, burst: { share: 1.5 } }, ['a share of the limit from 0.01 to 1']),
  inLimit('capacity: 5, refillRate: 2', { ...perMinute, capacity: 5, refillRate: 2 }, [
    'limits.api.capacity: unknown key; use `burst`',
    'limits.api.refillRate: unknown key; a bucket refills its `limit` per `per`',
  ]),
  inLimit("limit: '60'", { ...perMinute, limit: '60' }, [
    'limits.api.limit: expected a whole number of requests from 0 to 1000000000000000, or "unlimited", got "60"',
  ]),
  inLimit('no by', { limit: 20, per: '1m' }, ['limits.api.by: missing; expected whose limit it is: by: "user"']),
  inLimit('by and shared', { ...perMinute, shared: 'all' }, ['limits.api.by: not with `shared`']),
  inLimit("by: ['user', 'model']", { ...perMinute, by: ['user', 'model'] }, [
    'limits.api.by: several keys in one limit are not supported: give the subject one more key',
  ]),
  inLimit("by: 'user:name'", { ...perMinute, by: 'user:name' }, ['limits.api.by: expected', 'got "user:name"']),
  mistake(
    "by: 'user' beside shared: 'user'",
    { limits: { perMinute, all: { shared: 'user', limit: 9, per: '1m' } } },
    'limits.perMinute.by: is `by` in one limit and `shared` in another',
    'limits.all.shared: is `by` in one limit and `shared` in another',
  ),
  inLimit(
    "for: 'wirte'",
    { ...perMinute, for: 'wirte' },
    ['limits.api.for: not an operation or category: "wirte"; did you mean "write"?'],
    { operations: { save: { category: 'write' } } },
  ),
  inLimit('concurrency and limit', { by: 'user', concurrency: 3, limit: 5 }, [
    'limits.api.limit: not with concurrency, which counts work in progress',
  ]),
  inLimit(
    'concurrency without for, where there are operations',
    { by: 'user', concurrency: 3 },
    ['limits.api.for: missing; expected the operations whose work takes a slot'],
    { operations: { chat: {}, look: {} } },
  ),
  inLimit('concurrency: -1', { by: 'user', concurrency: -1 }, [
    'limits.api.concurrency: expected a whole number of slots',
  ]),
  inLimit("title: ''", { ...perMinute, title: '' }, ['limits.api.title: expected 1 to 64 characters']),
  inLimit("formerly: 'api'", { ...perMinute, formerly: 'api' }, [
    "limits.api.formerly: expected the limit's former name",
  ]),
  mistake(
    "formerly: 'perMinute' beside perMinute",
    { limits: { perMinute, quick: { ...perMinute, formerly: 'perMinute' } } },
    'limits.quick.formerly: limits.perMinute already continues it: remove it from one of them',
  ),
  mistake(
    "formerly: 'old' of two limits of two layers",
    { limits: { a: { ...perMinute, formerly: 'old' }, b: { ...perMinute, by: 'team', formerly: 'old' } } },
    'limits.a.formerly: limits.b already continues it',
    'limits.b.formerly: limits.a already continues it',
  ),
  mistake(
    "limits: { 'per minute': { ... } }",
    { limits: { 'per minute': perMinute } },
    "expected a limit's name of 1 to 64",
  ),
  mistake('limits: [{ ... }]', { limits: [perMinute] }, 'limits: expected an object of limits by name, got an array'),
  mistake('limits: {}', { limits: {} }, 'limits: expected 1 to 256 limits, got 0'),
  inLimit('limits: { api: 20 }', 20, ['limits.api: expected an object, got a number']),
]

const amounts: readonly Mistake[] = [
  inLimit('limit: 100, of: usd', { by: 'user', limit: 100, of: usd, per: '1d' }, [
    'limits.api.limit: expected an amount of money, such as usd(1) of money("USD"), or "unlimited", got 100',
  ]),
  inLimit("limit: usd(1), of: 'tokens'", { by: 'user', limit: usd(1), of: 'tokens', per: '1d' }, [
    'limits.api.limit: expected a whole number of tokens',
  ]),
  inLimit("of: 'slots'", { ...perMinute, of: 'slots' }, [
    "limits.api.of: expected a unit's name",
    'other than "slots"',
  ]),
  inLimit("of: 'two words'", { ...perMinute, of: 'two words' }, [
    "limits.api.of: expected a unit's name",
    'or money("USD")',
  ]),
  mistake("unit: 'constructor'", { limits: { perMinute }, unit: 'constructor' }, "unit: expected a unit's name"),
  inOperation('operations: { save: 5 }', 5, 'operations.save: expected an object, got a number'),
  inOperation(
    'cost: 0.5',
    { cost: 0.5 },
    'operations.save.cost: expected a whole number of requests, 0 or more, got 0.5',
  ),
  inOperation(
    'cost: { tokns: 5 }',
    { cost: { tokns: 5 } },
    'operations.save.cost.tokns: not a unit: "tokns"; the policy counts requests',
  ),
  mistake(
    'cost: { usd: 1 }',
    {
      limits: { budget: { by: 'user', limit: usd(1), of: usd, per: '1d' } },
      operations: { save: { cost: { usd: 1 } } },
    },
    'operations.save.cost.usd: expected an amount of money, such as usd(1) of money("USD"), got 1',
  ),
  inOperation(
    'cost: 0, and nothing else is counted',
    { cost: 0 },
    'operations.save: costs 0 of what its limits count, requests: give it a cost, or say free: true',
  ),
  inOperation(
    "overrun: 'charge' without maxOverrun",
    { overrun: 'charge' },
    'operations.save.maxOverrun: missing; expected the most requests that one commit charges beyond its hold',
  ),
  inOperation(
    'maxOverrun: 5 without overrun',
    { maxOverrun: 5 },
    'operations.save.maxOverrun: has no effect while an overrun is refused: set overrun to "charge" or "fit"',
  ),
  inOperation(
    "overrun: 'allow', maxOverrun: 0",
    { overrun: 'allow', maxOverrun: 0 },
    'operations.save.overrun: expected "refuse" or "charge" or "fit", got "allow"',
  ),
  inOperation(
    "overrun: 'fit', maxOverrun: 0",
    { overrun: 'fit', maxOverrun: 0 },
    'operations.save.maxOverrun: expected a whole number of requests from 1',
  ),
  {
    written: 'usd("1")',
    make: () => usd('1' as Anything),
    code: 'invalid_cost',
    says: ['expected an amount of USD, 0 to 10^9, got "1"'],
  },
  {
    written: "money('dollar')",
    make: () => money('dollar'),
    code: 'invalid_options',
    says: ['money(): expected a currency like "USD", got "dollar"'],
  },
]

const names: readonly Mistake[] = [
  inLimit(
    "concurency: 3, for: 'save'",
    { by: 'user', concurency: 3, for: 'save' },
    ['limits.api.concurency: unknown key; did you mean "concurrency"?'],
    { operations: { save: {} } },
  ),
  inLimit("shred: 'all'", { shred: 'all', limit: 3, per: '1m' }, [
    'limits.api.shred: unknown key; did you mean "shared"?',
  ]),
  mistake(
    'an operation that no limit counts',
    { limits: { writes: { ...perMinute, for: 'save' } }, operations: { save: {}, look: {} } },
    'operations.look: no limit counts it: say free: true if that is meant',
  ),
  mistake(
    'an operation with the name of a category that it isn’t in',
    { limits: { perMinute }, operations: { write: {}, save: { category: 'write' } } },
    'operations.write: "write" is also a category, which this operation isn\'t in: rename one of them',
  ),
  mistake(
    'plans: { pro: { perMinut: 50 } }',
    { limits: { perMinute }, plans: { pro: { perMinut: 50 } } },
    'plans.pro.perMinut: not a limit: "perMinut"; did you mean "perMinute"?',
  ),
  mistake(
    'plans: { pro: { service: 50 } }, a limit of all',
    { limits: { service: { shared: 'all', limit: 9, per: '1m' } }, plans: { pro: { service: 50 } } },
    'plans.pro.service: shared by all subjects: plans apply only to `by` limits',
  ),
  mistake(
    "plans: { 'pro plan': {}, max: 5, pro: { perMinute: '60' } }",
    { limits: { perMinute }, plans: { 'pro plan': {}, max: 5, pro: { perMinute: '60' } } },
    "plans.pro plan: expected a plan's name of 1 to 64",
    'plans.max: expected an object of numbers by limit',
    'plans.pro.perMinute: expected a whole number of requests',
  ),
  mistake(
    "plans: ['pro']",
    { limits: { perMinute }, plans: ['pro'] },
    'plans: expected an object of numbers by plan and limit, got an array',
  ),
  mistake(
    "titles: { usr: 'User' }",
    { limits: { perMinute }, titles: { usr: 'User' } },
    'titles.usr: no limit is by or shared "usr"; did you mean "user"?',
  ),
  mistake("planOf: 'team'", { limits: { perMinute }, planOf: 'team' }, 'planOf: no limit is by "team"; there are user'),
  mistake(
    'answers: {}',
    { limits: { perMinute }, answers: {} },
    'answers: expected a function, for example neutralAnswers()',
  ),
  mistake('limit: { ... } for limits', { limit: { perMinute } }, 'limit: unknown key; did you mean "limits"?'),
]

export const POLICY_MISTAKES: readonly Mistake[] = [
  ...times,
  ...limits,
  ...amounts,
  ...names,
  {
    written: 'createQuota({ limits: { api: { ...perMinute, burts: 5 } } })',
    make: () => createQuota({ limits: { api: { ...perMinute, burts: 5 } } } as Anything),
    code: 'invalid_policy',
    says: ['limits.api.burts: unknown key; did you mean "burst"?'],
  },
  {
    written: 'createQuota({ policy, limits })',
    make: () => createQuota({ policy: scoreGatewayPolicy(), limits: { perMinute } } as Anything),
    code: 'invalid_options',
    says: ['policy: not with `limits`: write all of the policy here, or pass it as `policy`'],
  },
  {
    written: 'parsePolicy(text)',
    make: () => parsePolicy('{ "limits": {} }'),
    code: 'invalid_policy',
    says: ['expected an object, got a string'],
  },
  {
    written: 'scoreGatewayPolicy({ operation: { ... } })',
    make: () => scoreGatewayPolicy({ operation: {} } as Anything),
    code: 'invalid_options',
    says: ['options of scoreGatewayPolicy()', 'operation: unknown key; did you mean "operations"?'],
  },
  {
    written: "scoreGatewayPolicy({ limits: { 'personal-read-2h': 5 } })",
    make: () => scoreGatewayPolicy({ limits: { 'personal-read-2h': 5 } as Anything }),
    code: 'invalid_options',
    says: ['limits.personal-read-2h: unknown key; did you mean "personal-read-1h"?'],
  },
]
