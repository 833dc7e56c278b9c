import { expectTypeOf, it } from 'vitest'
import { type HttpMeterOptions, httpMeter } from '../src/http.ts'
import {
  createQuota,
  type Decision,
  defaultPolicy,
  definePolicy,
  type OneUnit,
  type Policy,
  type Quota,
  type QuotaRequest,
  type Subject,
  type SyncQuota,
  simpleQuota,
} from '../src/index.ts'
import type { LayerInput } from '../src/store.ts'
import type { NamesIn } from './names-in.ts'

const policy = definePolicy({
  windows: [{ label: '1h' }, { label: '1d' }],
  categories: ['call'],
  layers: [{ name: 'user' }, { name: 'team', shared: false }, { name: 'all', shared: true }],
  operations: { chat: { category: 'call', cost: 1 }, look: { category: 'call', cost: 1 } },
  concurrency: { label: 'running', operations: ['chat'] },
  base: {
    user: { call: { '1h': 10, '1d': 100, running: 2 } },
    team: { call: { '1h': 50, '1d': 500 } },
    all: { call: { '1h': 1_000, '1d': 'unlimited' } },
  },
  plans: { pro: { user: { call: { '1h': 50 } } }, trial: {} },
})
const quota = createQuota({ policy })
const subject = { user: 'ann', team: 'blue' }
const asked = { subject, operation: 'look' } as const

/** A policy of these layers. */
function withLayers<const Layer extends LayerInput>(layers: readonly Layer[]) {
  const base = {} as Record<Layer['name'], { call: { '1h': number } }>
  const operations = { look: { category: 'call', cost: 1 } } as const
  const made = definePolicy({ windows: [{ label: '1h' }], categories: ['call'], layers, operations, base })
  return createQuota({ policy: made })
}

it('an engine’s type has the names of its policy', () => {
  expectTypeOf<NamesIn<typeof quota>>().toEqualTypeOf<{
    readonly subject: { readonly user: string; readonly team: string }
    readonly plan: 'pro' | 'trial'
    readonly ownLayer: 'user' | 'team'
    readonly sharedLayer: 'all'
    readonly category: 'call'
    readonly window: '1h' | '1d'
    readonly slots: 'running'
  }>()
})

it('a subject’s type has a key for each layer that isn’t shared', async () => {
  void quota.consume(asked)
  // @ts-expect-error a string where there are two layers
  void quota.consume({ subject: 'ann', operation: 'look' })
  // @ts-expect-error no such layer
  void quota.consume({ subject: { user: 'ann', taem: 'blue' }, operation: 'look' })
  // @ts-expect-error no such layer
  void quota.consume({ subject: { user: 'ann', team: 'blue', taem: 'blue' }, operation: 'look' })
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
  quota.peekSync({ subject: { user: 'ann', taem: 'blue' }, operation: 'look' })
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
  // @ts-expect-error no such layer
  void quota.holds.release({ user: 'ann', taem: 'blue' }, 'ref')
  void quota.holds.list((await quota.resume('token')).subject)
  void quota.status(quota.consumeSync(asked).subject)
  quota.on('nearLimit', (near) => void quota.reset(near.subject))
})

it('a subject is a string where only one layer isn’t shared', () => {
  const one = withLayers([{ name: 'user' }, { name: 'all', shared: true }])
  expectTypeOf<NamesIn<typeof one>['subject']>().toEqualTypeOf<string>()
  void one.consume({ subject: 'ann', operation: 'look' })
  // @ts-expect-error no string
  void one.consume({ subject: { user: 'ann' }, operation: 'look' })
  // @ts-expect-error no string
  void one.consume({ subject: 42, operation: 'look' })
  // @ts-expect-error no string
  void createQuota({ policy: defaultPolicy() }).consume({ subject: { personal: 'ann' }, operation: 'read' })
  const simple = simpleQuota({ limit: 5, per: '1m' })
  void simple.consume({ subject: 'ann' })
  // @ts-expect-error no string
  void simple.consume({ subject: 42 })
  // @ts-expect-error no string
  void simple.reserve({ subject: { user: 'ann' } })
  // @ts-expect-error no string
  simple.statusSync({ user: 'ann' })
})

it('a subject can be any subject where the type doesn’t say which layers are shared', () => {
  const layers = [{ name: 'user', shared: true as boolean }]
  const some = withLayers(layers)
  expectTypeOf<NamesIn<typeof some>['subject']>().toEqualTypeOf<Subject>()
  const any = withLayers([] as readonly LayerInput[])
  expectTypeOf<NamesIn<typeof any>['subject']>().toEqualTypeOf<Subject>()
  const data: Policy<'look'> = policy
  void createQuota({ policy: data }).consume({ subject: 'ann', operation: 'look' })
  void createQuota({ policy: data }).consume({ ...asked, plan: 'gold' })
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
  void quota.subjects.set('ann', { plan: 'pro' })
  void quota.subjects.set('ann', { plan: null })
  // @ts-expect-error no such plan
  void quota.subjects.set('ann', { plan: 'por' })
  void withLayers([{ name: 'user' }]).consume({ subject: 'ann', operation: 'look', plan: 'gold' })
})

it('windows, layers and categories are the policy’s', () => {
  const { windows } = quota.consumeSync(asked)
  expectTypeOf(windows[0]!.window).toEqualTypeOf<'1h' | '1d' | 'running'>()
  expectTypeOf(windows[0]!.layer).toEqualTypeOf<'user' | 'team' | 'all'>()
  // @ts-expect-error no such window
  void (windows[0]!.window === '2h')
  expectTypeOf(quota.statusSync(subject).windows).toHaveProperty('call')
  // @ts-expect-error no such category
  void quota.statusSync(subject).windows.calls
  void quota.settings.update({
    base: { user: { call: { '1h': 5, running: null } } },
    custom: null,
    layers: { all: { enabled: false } },
    shadow: { team: ['1d', 'running'], all: 'all' },
    plans: { pro: { team: { call: { '1d': 5 } } }, sold: { user: { call: { running: 5 } } } },
  })
  // @ts-expect-error no such window
  void quota.settings.update({ base: { user: { call: { '2h': 5 } } } })
  // @ts-expect-error no such window
  void quota.settings.update({ shadow: { user: ['2h'] } })
  // @ts-expect-error no such window
  void quota.settings.update({ plans: { pro: { user: { call: { '2h': 5 } } } } })
  // @ts-expect-error a shared layer has no plans
  void quota.settings.update({ plans: { pro: { all: { call: { '1h': 5 } } } } })
  // @ts-expect-error no shared layer
  void quota.settings.update({ layers: { team: { enabled: false } } })
  void quota.subjects.set('ann', { overrides: { call: { '1h': 5, running: 3, '1d': null } }, bypass: ['all'] })
  // @ts-expect-error no such window
  void quota.subjects.set('ann', { overrides: { call: { '2h': 5 } } })
  // @ts-expect-error no such category
  void quota.subjects.set('ann', { overrides: { calls: { '1h': 5 } } })
  // @ts-expect-error no shared layer
  void quota.subjects.set('ann', { bypass: ['team'] })
  void quota.subjects.get('blue', { layer: 'team' })
  // @ts-expect-error a shared layer has no settings of subjects
  void quota.subjects.get('ann', { layer: 'all' })
  void quota.reset(subject, { layer: 'all', category: 'call' })
  // @ts-expect-error no such layer
  void quota.reset(subject, { layer: 'taem' })
  // @ts-expect-error no such category
  void quota.reset(subject, { category: 'calls' })
})

it('an engine annotated as QuotaEngine takes any names', () => {
  const plain: Quota<'chat' | 'look'> = quota
  const sync: SyncQuota<'chat' | 'look'> = quota
  const asAny: Quota = quota
  const decided: Decision = quota.consumeSync(asked)
  const request: QuotaRequest<'look'> = asked
  void plain.consume({ subject: 'ann', operation: 'chat', plan: 'gold' })
  void sync.statusSync({ whoever: 'ann' })
  void asAny.subjects.set('ann', { overrides: { calls: { '2h': 5 } }, bypass: ['site'] })
  expectTypeOf(decided.windows[0]!.window).toEqualTypeOf<string>()
  expectTypeOf(request.subject).toEqualTypeOf<Subject>()
  const read: Quota<'read' | 'write'> = createQuota({ policy: defaultPolicy() })
  const simple: Quota<'request'> = simpleQuota({ limit: 5, per: '1m' })
  void [read, simple]
})

it('meters take the subjects and plans of their engine', () => {
  type Options = HttpMeterOptions<Request, 'chat' | 'look', OneUnit<'tokens', NamesIn<typeof quota>>>
  const options: Options = { quota, subject: () => subject, plan: () => 'pro' }
  const late: Options = { quota, subject: async () => null, plan: 'trial' }
  // @ts-expect-error no such layer
  const layer: Options = { quota, subject: () => ({ user: 'ann', taem: 'blue' }) }
  // @ts-expect-error a string where there are two layers
  const text: Options = { quota, subject: () => 'ann' }
  // @ts-expect-error no such plan
  const plan: Options = { quota, subject: () => subject, plan: 'por' }
  // @ts-expect-error no such plan
  const byRequest: Options = { quota, subject: () => subject, plan: () => 'por' }
  void [options, late, layer, text, plan, byRequest]
  const meter = httpMeter({ quota })
  void meter.admit({ method: 'GET', operation: 'look', subject, plan: 'pro' })
  // @ts-expect-error no such layer
  void meter.admit({ method: 'GET', operation: 'look', subject: { user: 'ann', taem: 'blue' } })
  // @ts-expect-error no such plan
  void meter.admit({ method: 'GET', operation: 'look', subject, plan: 'por' })
})
