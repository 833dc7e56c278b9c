import { expectTypeOf, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import {
  type CommitResult,
  createQuota,
  type Decision,
  defaultPolicy,
  definePolicy,
  type Limit,
  type OneUnit,
  type QuotaStore,
  type RefusedDecision,
  type SimpleQuota,
  type SyncQuota,
  type SyncSimpleQuota,
  simpleQuota,
} from '../src/index.ts'
import type { NamesIn } from './names-in.ts'

const quota = createQuota({
  policy: defaultPolicy({ operations: { 'music.upsert': { category: 'write', cost: 15 } } }),
})

/** The types that describe the default policy. */
type Counted = OneUnit<'tokens', NamesIn<typeof quota>>

it('operation names are the policy’s', () => {
  expectTypeOf(quota).toEqualTypeOf<SyncQuota<'music.upsert', Counted>>()
  expectTypeOf(quota.consumeSync).parameter(0).toHaveProperty('operation').toEqualTypeOf<'music.upsert'>()
  // @ts-expect-error there is no such operation
  void quota.consume({ subject: 'u', operation: 'music.delete' })
  expectTypeOf(createQuota({ policy: defaultPolicy() })).toEqualTypeOf<SyncQuota<'read' | 'write', Counted>>()
})

it('the categories of the default policy are read and write', () => {
  // @ts-expect-error there is no such category
  defaultPolicy({ operations: { go: { category: 'air', cost: 1 } } })
})

it('a refused decision has the reason', () => {
  const decision = quota.consumeSync({ subject: 'u', operation: 'music.upsert' })
  expectTypeOf(decision).toEqualTypeOf<Decision<Counted>>()
  if (!decision.allowed) expectTypeOf(decision).toEqualTypeOf<RefusedDecision<Counted>>()
})

it('a repeated reservation has no decision', async () => {
  const reservation = await quota.reserve({ subject: 'u', operation: 'music.upsert', id: 'x' })
  if (reservation.status === 'duplicate') expectTypeOf(reservation.decision).toEqualTypeOf<undefined>()
  if (reservation.status === 'reserved')
    expectTypeOf(reservation.commit).toEqualTypeOf<(n?: number) => Promise<CommitResult<Counted>>>()
})

it('run() returns what the work returned', async () => {
  const result = await quota.run({ subject: 'u', operation: 'music.upsert' }, () => 5)
  if (result.allowed) expectTypeOf(result.value).toEqualTypeOf<number>()
})

const metered = definePolicy({
  windows: [
    { label: '1h', lengthMs: 3_600_000 },
    { label: 'month', every: 'month', timeZone: 'UTC' },
  ],
  categories: ['call'],
  layers: [{ name: 'user' }, { name: 'team' }, { name: 'all', shared: true }],
  operations: {
    chat: { category: 'call', cost: 1, overrun: 'charge', maxOverrun: 10 },
    look: { category: 'call', cost: 1 },
  },
  concurrency: { label: 'running', operations: ['chat'] },
  base: {
    user: { call: { '1h': 10, month: 100, running: 2 } },
    team: { call: { '1h': 10, month: 100 } },
    all: { call: { '1h': 10, month: 'unlimited', running: 50 } },
  },
  plans: { pro: { user: { call: { month: 500, running: 5 } } } },
})

it('a policy with every kind of limit has types for each of its names', () => {
  const engine = createQuota({ policy: metered, calendar: luxonCalendar() })
  expectTypeOf(engine).toEqualTypeOf<SyncQuota<'chat' | 'look', OneUnit<'tokens', NamesIn<typeof engine>>>>()
  expectTypeOf(metered.base.user.call.month).toEqualTypeOf<Limit>()
  // @ts-expect-error there is no such operation
  const operation = () => definePolicy({ ...metered, concurrency: { label: 'running', operations: ['chta'] } })
  // @ts-expect-error there is no such category
  const category = () => definePolicy({ ...metered, concurrency: { label: 'running', categories: ['cal'] } })
  // @ts-expect-error there is no such limit
  const label = () => definePolicy({ ...metered, plans: { pro: { user: { call: { week: 5 } } } } })
  // @ts-expect-error there is no such layer
  const layer = () => definePolicy({ ...metered, plans: { pro: { users: { call: { month: 5 } } } } })
  const shared = () =>
    definePolicy({
      windows: [{ label: '1h', lengthMs: 3_600_000 }],
      categories: ['call'],
      layers: [{ name: 'user' }, { name: 'all', shared: true }],
      operations: { look: { category: 'call', cost: 1 } },
      base: { user: { call: { '1h': 1 } }, all: { call: { '1h': 1 } } },
      // @ts-expect-error a shared layer has no plans
      plans: { pro: { all: { call: { '1h': 5 } } } },
    })
  const missing = () =>
    definePolicy({
      windows: [{ label: '1h', lengthMs: 3_600_000 }],
      categories: ['call'],
      layers: [{ name: 'user' }],
      operations: { look: { category: 'call', cost: 1 } },
      concurrency: { label: 'running', operations: ['look'] },
      // @ts-expect-error the window has no limit
      base: { user: { call: { running: 1 } } },
    })
  void [operation, category, label, layer, shared, missing]
})

it('requests to a simple quota may leave out the operation', () => {
  const simple = simpleQuota({ limit: 100, per: '15m' })
  expectTypeOf(simple).toEqualTypeOf<SyncSimpleQuota>()
  expectTypeOf(simple).toExtend<SyncQuota<'request'>>()
  expectTypeOf(simpleQuota({ limit: 1, per: 1_000, store: {} as QuotaStore })).toEqualTypeOf<SimpleQuota>()
  void simple.consume({ subject: 'u' })
  void simple.run({ subject: 'u', cost: 2 }, () => 1)
  // @ts-expect-error there is no such operation
  void simple.consume({ subject: 'u', operation: 'read' })
  // @ts-expect-error no length of time
  simpleQuota({ limit: 100, per: '15 minutes' })
  // @ts-expect-error other engines want to know the operation
  void quota.consume({ subject: 'u' })
})
