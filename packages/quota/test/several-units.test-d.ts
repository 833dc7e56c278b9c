import { expectTypeOf, it } from 'vitest'
import { type HttpMeterOptions, httpMeter, type RequestQuota } from '../src/http.ts'
import {
  type CommitResult,
  type Counting,
  createQuota,
  type Decision,
  definePolicy,
  type Hold,
  type MoneyAmount,
  money,
  type OneUnit,
  type Quota,
  type SeveralUnits,
  type SyncQuota,
} from '../src/index.ts'
import type { QuotaStore } from '../src/store.ts'
import { topSubjects } from '../src/top.ts'
import type { NamesIn } from './names-in.ts'

type Units = 'requests' | 'tokens' | 'usd'
type Amounts = { readonly requests: number; readonly tokens: number; readonly usd: number }

const usd = money('USD')
const policy = definePolicy({
  limits: {
    perMinute: { by: 'user', limit: 5, per: '1m' },
    tokens: { by: 'user', limit: 10_000, of: 'tokens', per: '1m' },
    month: { by: 'user', limit: usd(0.05), of: usd, every: 'month', timeZone: 'UTC' },
    all: { shared: 'all', limit: 'unlimited', of: usd, per: '30d' },
  },
  operations: {
    complete: {
      cost: { tokens: 2_000, usd: usd(0.009) },
      overrun: 'charge',
      maxOverrun: { tokens: 5_000, usd: usd(0.009) },
    },
    list: {},
  },
})
/** The types that describe the policy. */
type Counted = NonNullable<typeof policy.counting>

const quota = createQuota({ policy })
const later = createQuota({ policy, store: {} as QuotaStore })
const one = createQuota({ limits: { api: { by: 'user', limit: 5, per: '1m' } }, operations: { read: {}, write: {} } })
const asked = { subject: 'u', operation: 'complete' } as const

it('an engine’s type has its policy’s units', () => {
  expectTypeOf<Counted>().toEqualTypeOf<SeveralUnits<Units, NamesIn<typeof quota>, 'usd'>>()
  expectTypeOf(quota).toExtend<SyncQuota<'complete' | 'list', Counted>>()
  expectTypeOf(later).toExtend<Quota<'complete' | 'list', Counted>>()
  expectTypeOf(later).not.toHaveProperty('consumeSync')
  expectTypeOf(one).toExtend<SyncQuota<'read' | 'write', OneUnit<'requests', NamesIn<typeof one>>>>()
})

it('a cost has amounts of known units', () => {
  void quota.consume({ ...asked, cost: { tokens: 5 } })
  void quota.consume({ ...asked, cost: { tokens: 5, requests: 2, usd: usd(0.1) } })
  void quota.consume({ ...asked, cost: undefined })
  // @ts-expect-error a number where there are several units
  void quota.consume({ ...asked, cost: 5 })
  // @ts-expect-error no such unit
  void quota.consume({ ...asked, cost: { token: 5 } })
  // @ts-expect-error a number where it is money
  void quota.consume({ ...asked, cost: { usd: 5 } })
  // @ts-expect-error another currency
  void quota.consume({ ...asked, cost: { usd: money('EUR')(5) } })
  // @ts-expect-error slots are none that a request may cost
  void quota.consume({ ...asked, cost: { slots: 1 } })
  // @ts-expect-error amounts are numbers
  void quota.consume({ ...asked, cost: { tokens: '5' } })
  // @ts-expect-error a number where there are several units
  void quota.peek({ ...asked, cost: 5 })
  // @ts-expect-error no such unit
  void quota.reserve({ ...asked, cost: { token: 5 } })
  // @ts-expect-error a number where there are several units
  void quota.run({ ...asked, cost: 5 }, () => 1)
  // @ts-expect-error a number where there are several units
  quota.consumeSync({ ...asked, cost: 5 })
  // @ts-expect-error no such unit
  quota.reserveSync({ ...asked, cost: { token: 5 } })
  // @ts-expect-error a number where there are several units
  void quota.inTransaction({}).consume({ ...asked, cost: 5 })
})

it('a decision has amounts of each unit, and each limit has a unit', () => {
  const decision = quota.consumeSync(asked)
  expectTypeOf(decision).toEqualTypeOf<Decision<Counted>>()
  expectTypeOf(decision.cost).toEqualTypeOf<Amounts>()
  expectTypeOf(decision.limits.tokens!.unit).toEqualTypeOf<Units | 'slots'>()
  expectTypeOf(decision.shadowed[0]!.unit).toEqualTypeOf<Units | 'slots'>()
  if (!decision.allowed) expectTypeOf(decision.refusedBy.unit).toEqualTypeOf<Units | 'slots'>()
  // @ts-expect-error no such unit
  void decision.cost.token
  // @ts-expect-error not a number
  void (decision.cost + 1)
  // @ts-expect-error no such unit
  void (decision.limits.tokens!.unit === 'token')
  expectTypeOf(quota.statusSync('u').limits.month!.unit).toEqualTypeOf<Units | 'slots'>()
})

it('a reservation is settled and grown by amounts', async () => {
  const reserved = await quota.reserve({ ...asked, ttlMs: 1_000 })
  if (reserved.status !== 'reserved') return
  expectTypeOf(await reserved.commit({ tokens: 812 })).toEqualTypeOf<CommitResult<Counted>>()
  expectTypeOf((await reserved.commit()).charged).toEqualTypeOf<Amounts>()
  expectTypeOf((await reserved.add({ tokens: 5 })).cost).toEqualTypeOf<Amounts>()
  // @ts-expect-error a number where there are several units
  void reserved.commit(812)
  // @ts-expect-error no such unit
  void reserved.commit({ token: 812 })
  // @ts-expect-error a number where there are several units
  void reserved.add(5)
  const resumed = await quota.resume(reserved.token!)
  // @ts-expect-error no such unit
  void resumed.commit({ token: 812 })
  const sync = quota.reserveSync(asked)
  if (sync.status === 'reserved') expectTypeOf(sync.commit({ tokens: 5 }).uncharged).toEqualTypeOf<Amounts>()
  await quota.run(asked, (work) => {
    // @ts-expect-error a number where there are several units
    void work.commit(5)
    return work.commit({ usd: usd(5) })
  })
})

it('holds, events and settings have amounts by unit', async () => {
  const [hold] = await quota.holds.list('u')
  expectTypeOf(hold!).toEqualTypeOf<Hold<Counted>>()
  expectTypeOf(hold!.cost).toEqualTypeOf<Amounts>()
  // @ts-expect-error it is `cost` where there are several
  void hold!.tokens
  quota.on('admitted', ({ cost }) => expectTypeOf(cost).toEqualTypeOf<Amounts>())
  quota.on('overrun', ({ reserved, uncharged }) => expectTypeOf([reserved, uncharged]).toEqualTypeOf<Amounts[]>())
  quota.on('holdEnded', ({ cost }) => expectTypeOf(cost).toEqualTypeOf<Amounts>())
  quota.on('nearLimit', ({ limit }) => expectTypeOf(limit.unit).toEqualTypeOf<Units | 'slots'>())
  void quota.settings.update({ prices: { complete: { tokens: 5 } }, thresholds: [{ left: 5, unit: 'tokens' }] })
  // @ts-expect-error a number where there are several units
  void quota.settings.update({ prices: { complete: 5 } })
  // @ts-expect-error no such unit
  void quota.settings.update({ prices: { complete: { token: 5 } } })
  // @ts-expect-error of which unit?
  void quota.settings.update({ thresholds: [{ left: 5 }] })
  // @ts-expect-error no such unit
  void quota.settings.update({ thresholds: [{ share: 0.5, unit: 'token' }] })
  createQuota({ policy, thresholds: [{ share: 0.5 }, { left: 2, unit: 'slots' }] })
  // @ts-expect-error no such unit
  createQuota({ policy, thresholds: [{ left: 5, unit: 'token' }] })
  topSubjects({ quota, periodMs: 60_000 })
})

it('a policy has prices by unit', () => {
  const limits = { x: { by: 'u', limit: 1, per: '1m' }, y: { by: 'u', limit: 1, of: 'y', per: '1m' } } as const
  definePolicy({ limits, operations: { go: { cost: { y: 1 } } } })
  definePolicy({
    limits,
    // @ts-expect-error a number where there are several units
    operations: { go: { cost: 1 } },
  })
  definePolicy({
    limits,
    // @ts-expect-error no such unit
    operations: { go: { cost: { z: 1 } } },
  })
  definePolicy({
    limits,
    // @ts-expect-error a number where there are several units
    operations: { go: { overrun: 'charge', maxOverrun: 5 } },
  })
})

it('a policy with one unit uses numbers, whatever the unit’s name, and money for money', () => {
  const tokens = createQuota({
    unit: 'tokens',
    limits: { perMinute: { by: 'u', limit: 1, per: '1m' } },
    operations: { go: { cost: 1 } },
  })
  const { cost, limits } = tokens.consumeSync({ subject: 'u', operation: 'go', cost: 2 })
  expectTypeOf(cost).toEqualTypeOf<number>()
  expectTypeOf(limits.perMinute!.unit).toEqualTypeOf<'tokens' | 'slots'>()
  // @ts-expect-error amounts by unit where there is one
  void tokens.consume({ subject: 'u', operation: 'go', cost: { tokens: 2 } })
  void one.settings.update({ prices: { read: 5 }, thresholds: [{ left: 5 }] })
  expectTypeOf(usd(5)).toEqualTypeOf<MoneyAmount<'usd'>>()
})

it('an engine with specific units is assignable to an engine of any units', () => {
  const any: Quota<string, Counting> = quota
  expectTypeOf(one).toExtend<Quota<'read' | 'write', Counting>>()
  expectTypeOf(any.policy.units).not.toBeAny()
  // @ts-expect-error an engine of several units is none of one
  const tokens: Quota<'complete' | 'list', OneUnit> = quota
  void tokens
})

it('meters take costs in the units of their engine', () => {
  type Options = HttpMeterOptions<Request, 'complete' | 'list', Counted>
  const options: Options = { quota, subject: () => 'u', cost: { tokens: 5 } }
  const byRequest: Options = { quota, subject: () => 'u', cost: () => ({ tokens: 5 }) }
  const late: Options = { quota, subject: () => 'u', cost: async () => ({ usd: usd(5) }) }
  // @ts-expect-error no such unit
  const wrong: Options = { quota, subject: () => 'u', cost: { token: 5 } }
  // @ts-expect-error a number where there are several units
  const number: Options = { quota, subject: () => 'u', cost: () => 5 }
  void [options, byRequest, late, wrong, number]
  void httpMeter({ quota })
  expectTypeOf<RequestQuota<Counted>['charged']>().toEqualTypeOf<Amounts>()
  // @ts-expect-error no such unit
  const handler = (own: RequestQuota<Counted>) => own.commit({ token: 5 })
  void handler
})
