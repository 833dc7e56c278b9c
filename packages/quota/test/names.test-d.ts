import { expectTypeOf, it } from 'vitest'
import { type HttpMeterOptions, httpMeter } from '../src/http.ts'
import {
  createQuota,
  type Decision,
  definePolicy,
  type Policy,
  type Quota,
  type QuotaRequest,
  type Subject,
  type SyncQuota,
} from '../src/index.ts'
import { scoreGatewayPolicy } from '../src/score-gateway.ts'
import type { NamesIn } from './names-in.ts'

const policy = definePolicy({
  limits: {
    perHour: { by: 'user', limit: 10, per: '1h' },
    running: { by: 'user', concurrency: 2, for: 'chat' },
    ofTeam: { by: 'team', limit: 500, per: '1d' },
    ofAll: { shared: 'all', limit: 1_000, per: '1h', for: 'call' },
  },
  operations: { chat: { category: 'call' }, look: { category: 'call' } },
  plans: { pro: { perHour: 50, running: 5 }, trial: {} },
})
const quota = createQuota({ policy })
const subject = { user: 'ann', team: 'blue' }
const asked = { subject, operation: 'look' } as const

it('an engine’s type has the names of its policy, written in options or passed', () => {
  type Names = {
    readonly subject: { readonly user: string | null; readonly team: string | null }
    readonly plan: 'pro' | 'trial'
    readonly ownLayer: 'user' | 'team'
    readonly sharedLayer: 'all'
    readonly category: 'call'
    readonly limit: 'perHour' | 'running' | 'ofTeam' | 'ofAll'
  }
  expectTypeOf<NamesIn<typeof quota>>().toEqualTypeOf<Names>()
  const inPlace = createQuota({
    policy: definePolicy({
      limits: { tokens: { by: 'user', limit: 9, of: 'tokens', per: '1h' } },
      operations: { chat: { cost: { tokens: 1 } }, look: { free: true } },
    }),
  })
  void inPlace.consume({ subject: 'ann', operation: 'chat', cost: { tokens: 5 } })
  const annotated: Quota<'chat'> = createQuota({
    limits: { tokens: { by: 'user', limit: 9, of: 'tokens', per: '1h' } },
    operations: { chat: { cost: { tokens: 1 } } },
  })
  void annotated.consume({ subject: 'ann', operation: 'chat' })
})

it('a subject’s type has a key for each layer that isn’t shared', async () => {
  void quota.consume(asked)
  void quota.consume({ subject: { user: 'ann', team: null }, operation: 'look' })
  // @ts-expect-error a string where there are two layers
  void quota.consume({ subject: 'ann', operation: 'look' })
  // @ts-expect-error no such layer
  void quota.consume({ subject: { user: 'ann', taem: 'blue' }, operation: 'look' })
  // @ts-expect-error a shared layer has no key
  void quota.consume({ subject: { user: 'ann', team: 'blue', all: '' }, operation: 'look' })
  // @ts-expect-error without a team
  void quota.consume({ subject: { user: 'ann' }, operation: 'look' })
  // @ts-expect-error a key is text
  void quota.consume({ subject: { user: 'ann', team: 7 }, operation: 'look' })
  // @ts-expect-error no such layer
  void quota.peek({ subject: { user: 'ann', taem: 'blue' }, operation: 'look' })
  // @ts-expect-error no such layer
  void quota.reserve({ subject: { user: 'ann', taem: 'blue' }, operation: 'look' })
  // @ts-expect-error no such layer
  void quota.run({ subject: { user: 'ann', taem: 'blue' }, operation: 'look' }, () => 1)
  // @ts-expect-error no such layer
  void quota.inTransaction({}).consume({ subject: { user: 'ann', taem: 'blue' }, operation: 'look' })
  // @ts-expect-error no such layer
  quota.consumeSync({ subject: { user: 'ann', taem: 'blue' }, operation: 'look' })
  // @ts-expect-error no such layer
  quota.reserveSync({ subject: { user: 'ann', taem: 'blue' }, operation: 'look' })
  // @ts-expect-error no such layer
  void quota.status({ user: 'ann', taem: 'blue' })
  // @ts-expect-error a string where there are two layers
  quota.statusSync('ann')
  // @ts-expect-error no such layer
  void quota.reset({ user: 'ann', taem: 'blue' })
  // @ts-expect-error no such layer
  void quota.holds.list({ user: 'ann', taem: 'blue' })
  void quota.holds.list((await quota.resume('token')).subject)
  void quota.status(quota.consumeSync(asked).subject)
  quota.on('nearLimit', (near) => void quota.reset(near.subject))
})

it('a subject is a string where only one layer isn’t shared, or none', () => {
  const one = createQuota({
    limits: { api: { by: 'user', limit: 5, per: '1m' }, all: { shared: 'all', limit: 9, per: '1m' } },
  })
  expectTypeOf<NamesIn<typeof one>['subject']>().toEqualTypeOf<string>()
  void one.consume({ subject: 'ann' })
  // @ts-expect-error no string
  void one.consume({ subject: { user: 'ann' } })
  // @ts-expect-error no string
  void one.reserve({ subject: 42 })
  // @ts-expect-error no string
  one.statusSync({ user: 'ann' })
  const shared = createQuota({ limits: { all: { shared: 'all', limit: 9, per: '1m' } } })
  void shared.consume({ subject: 'anybody' })
})

it('a policy whose names aren’t known takes any', () => {
  const data: Policy<'look'> = definePolicy({
    limits: { api: { by: 'user', limit: 5, per: '1m' } },
    operations: { look: {} },
  })
  void createQuota({ policy: data }).consume({ subject: 'ann', operation: 'look', plan: 'gold' })
  void createQuota({ policy: data }).consume({ ...asked, limits: { any: 5 } })
})

it('plans are the policy’s, and any string where it has none', () => {
  void quota.consume({ ...asked, plan: 'pro' })
  void quota.status(subject, { plan: undefined })
  // @ts-expect-error no such plan
  void quota.consume({ ...asked, plan: 'por' })
  // @ts-expect-error no such plan
  void quota.reserve({ ...asked, plan: 'por' })
  // @ts-expect-error no such plan
  void quota.status(subject, { plan: 'por' })
  void quota.subjects.set({ user: 'ann' }, { plan: null })
  // @ts-expect-error no such plan
  void quota.subjects.set({ user: 'ann' }, { plan: 'por' })
  const none = createQuota({ limits: { api: { by: 'user', limit: 5, per: '1m' } } })
  void none.consume({ subject: 'ann', plan: 'gold' })
})

it('limits are the policy’s in requests, decisions, settings and subjects', () => {
  void quota.consume({ ...asked, limits: { perHour: 60, ofTeam: null, running: undefined } })
  // @ts-expect-error no such limit
  void quota.consume({ ...asked, limits: { perHuor: 60 } })
  const { limits } = quota.consumeSync(asked)
  expectTypeOf(limits.perHour!.name).toEqualTypeOf<'perHour' | 'running' | 'ofTeam' | 'ofAll'>()
  expectTypeOf(limits.perHour!.by).toEqualTypeOf<'user' | 'team' | undefined>()
  // @ts-expect-error no such limit
  void limits.perHuor
  // @ts-expect-error no such limit
  void quota.statusSync(subject).limits.perHuor
  void quota.settings.update({
    limits: { perHour: 5, running: null },
    custom: null,
    shared: { all: { enabled: false } },
    shadow: { ofTeam: true },
    plans: { pro: { ofTeam: 5 }, sold: { running: 5 } },
  })
  // @ts-expect-error no such limit
  void quota.settings.update({ limits: { perHuor: 5 } })
  // @ts-expect-error no such limit
  void quota.settings.update({ shadow: { perHuor: true } })
  // @ts-expect-error no such limit
  void quota.settings.update({ plans: { pro: { perHuor: 5 } } })
  // @ts-expect-error no shared layer
  void quota.settings.update({ shared: { team: { enabled: false } } })
  void quota.subjects.set({ user: 'ann' }, { limits: { perHour: 5, running: null }, bypass: { all: true } })
  // @ts-expect-error no such limit
  void quota.subjects.set({ user: 'ann' }, { limits: { perHuor: 5 } })
  // @ts-expect-error no shared layer
  void quota.subjects.set({ user: 'ann' }, { bypass: { team: true } })
  void quota.subjects.get({ team: 'blue' })
  // @ts-expect-error a shared layer has no settings of subjects
  void quota.subjects.get({ all: 'ann' })
  // @ts-expect-error whose?
  void quota.subjects.get('ann')
  void quota.reset(subject, { limits: ['ofAll'] })
  // @ts-expect-error no such limit
  void quota.reset(subject, { limits: ['ofAl'] })
})

it('an engine annotated as Quota takes any names', () => {
  const plain: Quota<'chat' | 'look'> = quota
  const sync: SyncQuota<'chat' | 'look'> = quota
  const asAny: Quota = quota
  const decided: Decision = quota.consumeSync(asked)
  const request: QuotaRequest<'look'> = asked
  void plain.consume({ subject: 'ann', operation: 'chat', plan: 'gold' })
  void sync.statusSync({ whoever: 'ann' })
  void asAny.subjects.set('ann', { limits: { calls: 5 }, bypass: { site: true } })
  expectTypeOf(decided.limits.any!.name).toEqualTypeOf<string>()
  expectTypeOf(request.subject).toEqualTypeOf<Subject>()
  const read: Quota<'read' | 'write'> = createQuota({ policy: scoreGatewayPolicy() })
  const one: Quota<'request'> = createQuota({ limits: { api: { by: 'user', limit: 5, per: '1m' } } })
  void [read, one]
})

it('meters take the subjects and plans of their engine', () => {
  type Options = HttpMeterOptions<Request, 'chat' | 'look', NonNullable<typeof policy.counting>>
  const options: Options = { quota, subject: () => subject, plan: () => 'pro' }
  const late: Options = { quota, subject: async () => null, plan: 'trial', limits: async () => ({ perHour: 60 }) }
  // @ts-expect-error no such layer
  const layer: Options = { quota, subject: () => ({ user: 'ann', taem: 'blue' }) }
  // @ts-expect-error a string where there are two layers
  const text: Options = { quota, subject: () => 'ann' }
  // @ts-expect-error no such plan
  const plan: Options = { quota, subject: () => subject, plan: 'por' }
  // @ts-expect-error no such plan
  const byRequest: Options = { quota, subject: () => subject, plan: () => 'por' }
  // @ts-expect-error no such limit
  const limits: Options = { quota, subject: () => subject, limits: () => ({ perHuor: 60 }) }
  void [options, late, layer, text, plan, byRequest, limits]
  const meter = httpMeter({ quota })
  void meter.admit({ method: 'GET', operation: 'look', subject, plan: 'pro' })
  // @ts-expect-error no such layer
  void meter.admit({ method: 'GET', operation: 'look', subject: { user: 'ann', taem: 'blue' } })
  // @ts-expect-error no such plan
  void meter.admit({ method: 'GET', operation: 'look', subject, plan: 'por' })
})
