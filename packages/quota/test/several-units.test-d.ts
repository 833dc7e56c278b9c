import { expectTypeOf, it } from 'vitest'
import type { RequestQuota } from '../src/http.ts'
import { type HttpMeterOptions, httpMeter } from '../src/http.ts'
import {
  type CommitResult,
  createQuota,
  type Decision,
  defaultPolicy,
  definePolicy,
  type Hold,
  type OneUnit,
  type Policy,
  type Quota,
  type QuotaStore,
  type SeveralUnits,
  type SyncQuota,
  type UnitsOf,
} from '../src/index.ts'
import { topSubjects } from '../src/top.ts'
import type { NamesIn } from './names-in.ts'

type Units = 'requests' | 'tokens' | 'microusd'
/** The types that describe the policy below. */
type Counted = UnitsOf<
  Units,
  {
    readonly subject: string
    readonly plan: string
    readonly ownLayer: 'user'
    readonly sharedLayer: 'all'
    readonly category: 'chat'
    readonly window: '1m' | 'tokens-1m' | 'odd' | 'month'
    readonly slots: never
  }
>
type Amounts = { readonly requests: number; readonly tokens: number; readonly microusd: number }

const policy = definePolicy({
  units: ['requests', 'tokens', { name: 'microusd', format: { currency: 'USD', scale: 6 } }],
  windows: [
    { label: '1m', unit: 'requests' },
    { label: 'tokens-1m', per: '1m', unit: 'tokens' },
    { label: 'odd', lengthMs: 61_000, unit: 'tokens' },
    { label: 'month', every: 'month', timeZone: 'UTC', unit: 'microusd' },
  ],
  categories: ['chat'],
  layers: [{ name: 'user' }, { name: 'all', shared: true }],
  operations: {
    complete: {
      category: 'chat',
      cost: { requests: 1, tokens: 2_000, microusd: 9_000 },
      overrun: 'charge',
      maxOverrun: { requests: 0, tokens: 5_000, microusd: 9_000 },
    },
    list: { category: 'chat', cost: { requests: 1 } },
  },
  base: {
    user: { chat: { '1m': 5, 'tokens-1m': 10_000, odd: 5, month: 50_000 } },
    all: { chat: { '1m': 5, 'tokens-1m': 10_000, odd: 5, month: 'unlimited' } },
  },
})
const quota = createQuota({ policy })
const later = createQuota({ policy, store: {} as QuotaStore })
const one = createQuota({ policy: defaultPolicy() })
const asked = { subject: 'u', operation: 'complete' } as const

it('an engine’s type has its policy’s units', () => {
  expectTypeOf(quota).toEqualTypeOf<SyncQuota<'complete' | 'list', Counted>>()
  expectTypeOf(later).toEqualTypeOf<Quota<'complete' | 'list', Counted>>()
  expectTypeOf<Counted>().toExtend<SeveralUnits<Units>>()
  expectTypeOf(one).toEqualTypeOf<SyncQuota<'read' | 'write', OneUnit<'tokens', NamesIn<typeof one>>>>()
  expectTypeOf<UnitsOf<'tokens'>>().toEqualTypeOf<OneUnit>()
})

it('a cost has amounts of known units', () => {
  void quota.consume({ ...asked, cost: { tokens: 5 } })
  void quota.consume({ ...asked, cost: { tokens: 5, requests: 2, microusd: 0 } })
  void quota.consume({ ...asked, cost: undefined })
  // @ts-expect-error a number where there are several units
  void quota.consume({ ...asked, cost: 5 })
  // @ts-expect-error no such unit
  void quota.consume({ ...asked, cost: { token: 5 } })
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

it('a decision has amounts of each unit, and each window has a unit', () => {
  const decision = quota.consumeSync(asked)
  expectTypeOf(decision).toEqualTypeOf<Decision<Counted>>()
  expectTypeOf(decision.cost).toEqualTypeOf<Amounts>()
  expectTypeOf(decision.windows[0]!.unit).toEqualTypeOf<Units | 'slots' | undefined>()
  expectTypeOf(decision.shadowed[0]!.unit).toEqualTypeOf<Units | 'slots' | undefined>()
  if (!decision.allowed) expectTypeOf(decision.binding.unit).toEqualTypeOf<Units | 'slots' | undefined>()
  // @ts-expect-error no such unit
  void decision.cost.token
  // @ts-expect-error not a number
  void (decision.cost + 1)
  // @ts-expect-error no such unit
  void (decision.windows[0]!.unit === 'token')
  expectTypeOf(quota.statusSync('u').windows.chat![0]!.unit).toEqualTypeOf<Units | 'slots' | undefined>()
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
    return work.commit({ microusd: 5 })
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
  quota.on('nearLimit', ({ window }) => expectTypeOf(window.unit).toEqualTypeOf<Units | 'slots' | undefined>())
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

it('a policy has a unit for each window and prices by unit', () => {
  const members = { categories: ['a'], layers: [{ name: 'u' }], base: { u: { a: { '1m': 1 } } } } as const
  const operations = { go: { category: 'a', cost: { x: 1 } } } as const
  definePolicy({ ...members, units: ['x', 'y'], windows: [{ label: '1m', unit: 'x' }], operations })
  // @ts-expect-error a window without unit where there are several
  const unsaid = () => definePolicy({ ...members, units: ['x', 'y'], windows: [{ label: '1m' }], operations })
  // @ts-expect-error no such unit
  const wrong = () => definePolicy({ ...members, units: ['x', 'y'], windows: [{ label: '1m', unit: 'z' }], operations })
  const number = () =>
    definePolicy({
      ...members,
      units: ['x', 'y'],
      windows: [{ label: '1m', unit: 'x' }],
      // @ts-expect-error a number where there are several units
      operations: { go: { category: 'a', cost: 1 } },
    })
  const unknown = () =>
    definePolicy({
      ...members,
      units: ['x', 'y'],
      windows: [{ label: '1m', unit: 'x' }],
      // @ts-expect-error no such unit
      operations: { go: { category: 'a', cost: { z: 1 } } },
    })
  const overrun = () =>
    definePolicy({
      ...members,
      units: ['x', 'y'],
      windows: [{ label: '1m', unit: 'x' }],
      // @ts-expect-error a number where there are several units
      operations: { go: { category: 'a', cost: { x: 1 }, overrun: 'charge', maxOverrun: 5 } },
    })
  const label = () =>
    definePolicy({
      ...members,
      units: ['x', 'y'],
      windows: [
        { label: '1m', unit: 'x' },
        { label: '1h', unit: 'y' },
      ],
      operations,
      // @ts-expect-error the limit of a window by its label is missing
      base: { u: { a: { '1m': 1 } } },
    })
  void [unsaid, wrong, number, unknown, overrun, label]
})

it('a policy with one unit uses numbers, whatever the unit’s name', () => {
  const requests = definePolicy({
    units: ['requests'],
    windows: [{ label: '1m' }, { label: '1h', unit: 'requests' }],
    categories: ['a'],
    layers: [{ name: 'u' }],
    operations: { go: { category: 'a', cost: 1 } },
    base: { u: { a: { '1m': 1, '1h': 5 } } },
  })
  const counting = createQuota({ policy: requests })
  expectTypeOf(counting).toEqualTypeOf<SyncQuota<'go', OneUnit<'requests', NamesIn<typeof counting>>>>()
  const { cost, windows } = counting.consumeSync({ subject: 'u', operation: 'go', cost: 2 })
  expectTypeOf(cost).toEqualTypeOf<number>()
  expectTypeOf(windows[0]!.unit).toEqualTypeOf<'requests' | 'slots' | undefined>()
  // @ts-expect-error amounts by unit where there is one
  void counting.consume({ subject: 'u', operation: 'go', cost: { requests: 2 } })
  // @ts-expect-error no such unit
  definePolicy({ ...requests, windows: [{ label: '1m', unit: 'tokens' }] })
})

it('the types of an engine with tokens only are unchanged', async () => {
  expectTypeOf<Quota>().toEqualTypeOf<Quota<string, OneUnit>>()
  expectTypeOf<Decision['cost']>().toEqualTypeOf<number>()
  expectTypeOf<CommitResult>().toEqualTypeOf<{ readonly charged: number; readonly uncharged: number }>()
  expectTypeOf<Hold['tokens']>().toEqualTypeOf<number>()
  expectTypeOf<Policy['operations'][string]['cost']>().toEqualTypeOf<number>()
  expectTypeOf(one.consumeSync({ subject: 'u', operation: 'read', cost: 5 }).cost).toEqualTypeOf<number>()
  // @ts-expect-error amounts by unit where there is one
  void one.consume({ subject: 'u', operation: 'read', cost: { tokens: 5 } })
  void one.settings.update({ prices: { read: 5 }, thresholds: [{ left: 5 }] })
})

it('an engine with specific units is assignable to an engine of any units', () => {
  const any: Quota<string, UnitsOf<string>> = quota
  expectTypeOf(one).toExtend<Quota<'read' | 'write', UnitsOf<string>>>()
  expectTypeOf(any.policy.units).not.toBeAny()
  // @ts-expect-error an engine of tokens is none of several units
  const tokens: Quota<'complete' | 'list'> = quota
  void tokens
})

it('meters take costs in the units of their engine', () => {
  type Options = HttpMeterOptions<Request, 'complete' | 'list', UnitsOf<Units>>
  const options: Options = { quota, subject: () => 'u', cost: { tokens: 5 } }
  const byRequest: Options = { quota, subject: () => 'u', cost: () => ({ tokens: 5 }) }
  const late: Options = { quota, subject: () => 'u', cost: async () => ({ microusd: 5 }) }
  // @ts-expect-error no such unit
  const wrong: Options = { quota, subject: () => 'u', cost: { token: 5 } }
  // @ts-expect-error a number where there are several units
  const number: Options = { quota, subject: () => 'u', cost: () => 5 }
  void [options, byRequest, late, wrong, number]
  void httpMeter({ quota })
  expectTypeOf<RequestQuota['charged']>().toEqualTypeOf<number>()
  expectTypeOf<RequestQuota<UnitsOf<Units>>['charged']>().toEqualTypeOf<Amounts>()
  // @ts-expect-error no such unit
  const handler = (own: RequestQuota<UnitsOf<Units>>) => own.commit({ token: 5 })
  void handler
})
