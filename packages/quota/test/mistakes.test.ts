import { type Mistake, testMistakes } from '@scoregw/mistakes'
import { Registry } from 'prom-client'
import { describe } from 'vitest'
import { adaptiveTicker } from '../src/adaptive.ts'
import { createQuota, memoryStore } from '../src/index.ts'
import { registerQuotaMetrics } from '../src/prometheus.ts'
import { scoreGatewayPolicy } from '../src/score-gateway.ts'
import { waitingQueue } from '../src/waiting.ts'
import { POLICY_MISTAKES } from './mistakes/policies.ts'

/** A value that JavaScript, or a cast, lets through. */
type Anything = never

const policy = scoreGatewayPolicy()
const quota = createQuota({ policy })
const closed = createQuota({ policy })
const teams = createQuota({
  limits: { user: { by: 'user', limit: 10, per: '1h' }, team: { by: 'team', limit: 10, per: '1h' } },
  operations: { write: {} },
})
const request = { subject: 'u42', operation: 'write' } as const

function create(options: object): Mistake['make'] {
  return () => createQuota(options as Anything)
}

const construction: readonly Mistake[] = [
  {
    written: 'createQuota()',
    make: () => createQuota(undefined as Anything),
    code: 'invalid_options',
    says: ['createQuota({ policy })', 'got nothing'],
  },
  {
    written: 'createQuota({})',
    make: create({}),
    code: 'invalid_options',
    says: ['policy: missing; expected a policy from definePolicy(), or `limits` by name'],
  },
  {
    written: 'createQuota(policy)',
    make: create(policy),
    code: 'invalid_options',
    says: ['write createQuota({ policy })'],
  },
  {
    written: 'createQuota(memoryStore())',
    make: create(memoryStore()),
    code: 'invalid_options',
    says: ['a value for "store"', 'createQuota({ policy, store })'],
  },
  {
    written: 'createQuota({ policy: scoreGatewayPolicy })',
    make: create({ policy: scoreGatewayPolicy }),
    code: 'invalid_options',
    says: ['policy: expected a policy', 'got a function: call it'],
  },
  {
    written: 'createQuota({ policy: {} })',
    make: create({ policy: {} }),
    code: 'invalid_options',
    says: ['policy: expected a policy', 'from definePolicy(), or `limits` by name'],
  },
  {
    written: 'createQuota({ polcy })',
    make: create({ polcy: policy }),
    code: 'invalid_options',
    says: ['polcy: unknown key; did you mean "policy"?'],
  },
  {
    written: "createQuota({ policy, store: 'memory' })",
    make: create({ policy, store: 'memory' }),
    code: 'invalid_options',
    says: ['store: expected a quota store, for example memoryStore() or redisStore({ client }), got a string'],
  },
  {
    written: 'createQuota({ policy, store: memoryStore })',
    make: create({ policy, store: memoryStore }),
    code: 'invalid_options',
    says: ['store: expected a quota store', 'got a function: call it'],
  },
  {
    written: 'createQuota({ policy, store: openStore() }), where openStore is async',
    make: create({ policy, store: Promise.resolve(memoryStore()) }),
    code: 'invalid_options',
    says: ['store: ', 'got a promise: await it first'],
  },
  {
    written: 'createQuota({ policy, settingsStore: memoryStore() })',
    make: create({ policy, settingsStore: memoryStore() }),
    code: 'invalid_options',
    says: ['settingsStore: expected a settings store', 'without read()'],
  },
  {
    written: 'createQuota({ policy, windowMs: 60_000, limit: 100 })',
    make: create({ policy, windowMs: 60_000, limit: 100 }),
    code: 'invalid_options',
    says: ['windowMs: unknown key; write it in `limits`', 'limit: unknown key; write it in `limits`'],
  },
  {
    written: 'createQuota({ policy, client })',
    make: create({ policy, client: {} }),
    code: 'invalid_options',
    says: ['client: unknown key; pass `store`: redisStore({ client })'],
  },
  {
    written: 'createQuota({ policy, points: 5, duration: 1, keyPrefix: "q" })',
    make: create({ policy, points: 5, duration: 1, keyPrefix: 'q' }),
    code: 'invalid_options',
    says: ['points: ', 'duration: ', 'keyPrefix: ', '`prefix` of redisStore()'],
  },
  {
    written: 'createQuota({ policy, keyGenerator, passOnStoreError: true })',
    make: create({ policy, keyGenerator: () => 'u', passOnStoreError: true }),
    code: 'invalid_options',
    says: ['pass the caller as `subject` of each request', 'failurePolicy of createQuota()'],
  },
  {
    written: 'createQuota({ policy, operations: { ... } })',
    make: create({ policy, operations: {} }),
    code: 'invalid_options',
    says: ['operations: unknown key; it is a member of the policy'],
  },
  {
    written: "createQuota({ policy, failurePolicy: 'open' })",
    make: create({ policy, failurePolicy: 'open' }),
    code: 'invalid_options',
    says: ['failurePolicy: expected an object by operation or category, { read: "open" }'],
  },
  {
    written: "createQuota({ policy, failurePolicy: { raed: 'open' } })",
    make: create({ policy, failurePolicy: { raed: 'open' } }),
    code: 'invalid_options',
    says: ['failurePolicy.raed: not an operation or category', 'did you mean "read"?'],
  },
  {
    written: "createQuota({ policy, idTtlMs: '10m' })",
    make: create({ policy, idTtlMs: '10m' }),
    code: 'invalid_options',
    says: ['idTtlMs: expected a whole number of milliseconds', 'got "10m"'],
  },
  {
    written: 'createQuota({ policy, thresholds: [0.8] })',
    make: create({ policy, thresholds: [0.8] }),
    code: 'invalid_options',
    says: ['thresholds.0: expected an object, got a number'],
  },
  {
    written: 'createQuota({ policy, thresholds: [{ share: 80 }, { left: 0.5 }] })',
    make: create({ policy, thresholds: [{ share: 80 }, { left: 0.5 }] }),
    code: 'invalid_options',
    says: ['thresholds.0.share: expected a share above 0 and up to 1', 'thresholds.1.left: expected a whole number'],
  },
  {
    written: 'memoryStore({ max: 1000 })',
    make: () => memoryStore({ max: 1000 } as Anything),
    code: 'invalid_options',
    says: ['options of memoryStore()', '`maxSubjects`'],
  },
  {
    written: 'memoryStore(clock)',
    make: () => memoryStore({ now: () => 0 } as Anything),
    code: 'invalid_options',
    says: ['write memoryStore({ clock })'],
  },
  {
    written: 'memoryStore().restore(text)',
    make: () => memoryStore().restore('{"format":2}'),
    code: 'invalid_options',
    says: ['invalid snapshot: expected a part of a snapshot, got text: JSON.parse() it first'],
  },
  {
    written: 'adaptiveTicker({ outcomes })',
    make: () => adaptiveTicker({ outcomes: { add: () => undefined, read: () => [] } } as Anything),
    code: 'invalid_options',
    says: ['adaptiveTicker()', 'factorStore: missing; expected a factor store'],
  },
  {
    written: 'registerQuotaMetrics(quota)',
    make: () => registerQuotaMetrics(quota as Anything),
    code: 'invalid_options',
    says: ['write registerQuotaMetrics({ quota, registry })'],
  },
  {
    written: 'registerQuotaMetrics({ quota, registry: Registry })',
    make: () => registerQuotaMetrics({ quota, registry: Registry as Anything }),
    code: 'invalid_options',
    says: ["registry: expected prom-client's register, or a new Registry()", 'got a class: pass an instance'],
  },
]

const requests: readonly Mistake[] = [
  {
    written: "quota.consume('u42')",
    make: () => quota.consume('u42' as Anything),
    code: 'invalid_subject',
    says: ['expected a request, got "u42": pass { subject: "u42", operation: "read" }'],
  },
  {
    written: 'quota.run(work), as p-queue and bottleneck take it',
    make: () => quota.run((() => 'work') as Anything, undefined as Anything),
    code: 'unknown_operation',
    says: ['expected a request, { subject, operation }, got a function: pass the request first, run(request, work)'],
  },
  {
    written: 'quota.run(request), without work',
    make: () => quota.run(request, undefined as Anything),
    code: 'invalid_options',
    says: ['run(request, work): expected a function for the work, got nothing'],
  },
  {
    written: 'waitingQueue(quota).run(request), without work',
    make: () => queue.run(request, undefined as Anything),
    code: 'invalid_options',
    says: ['run(request, work): expected a function for the work, got nothing'],
  },
  {
    written: "quota.consume({ key: 'u42', operation: 'write' })",
    make: () => quota.consume({ key: 'u42', operation: 'write' } as Anything),
    code: 'invalid_request',
    says: ['key: unknown key; use `subject`'],
  },
  {
    written: 'quota.consume({ ..., points: 5 })',
    make: () => quota.consume({ ...request, points: 5 } as Anything),
    code: 'invalid_request',
    says: ['points: unknown key; use `cost`'],
  },
  {
    written: 'quota.peek({ ..., costs: 5 })',
    make: () => quota.peek({ ...request, costs: 5 } as Anything),
    code: 'invalid_request',
    says: ['costs: unknown key; did you mean "cost"?'],
  },
  {
    written: "quota.consume({ subject: 'u42', opreation: 'write' })",
    make: () => quota.consume({ subject: 'u42', opreation: 'write' } as Anything),
    code: 'invalid_request',
    says: ['opreation: unknown key; did you mean "operation"?'],
  },
  {
    written: 'quota.reserve({ ..., ttl: 5_000 })',
    make: () => quota.reserve({ ...request, ttl: 5_000 } as Anything),
    code: 'invalid_request',
    says: ['ttl: unknown key; use `ttlMs`, in milliseconds'],
  },
  {
    written: 'quota.run({ ..., maxWaitMs: 5_000 }, work), without a queue',
    make: () => quota.run({ ...request, maxWaitMs: 5_000 } as Anything, () => 'work'),
    code: 'invalid_request',
    says: ['maxWaitMs: unknown key; only a queue waits: use waitingQueue(quota)'],
  },
  {
    written: 'waitingQueue(quota).run({ ..., timeout: 5_000 }, work)',
    make: () => queue.run({ ...request, timeout: 5_000 } as Anything, () => 'work'),
    code: 'invalid_request',
    says: ['timeout: unknown key; use `maxWaitMs` of waitingQueue(quota)'],
  },
  {
    written: 'waitingQueue(quota).run(work)',
    make: () => queue.run((() => 'work') as Anything, undefined as Anything),
    code: 'unknown_operation',
    says: ['got a function: pass the request first'],
  },
  {
    written: "quota.consume({ ..., id: 'a' })",
    make: () => quota.consume({ ...request, id: 'a' } as Anything),
    code: 'invalid_request',
    says: ['id: consume() has none: use reserve() or run()'],
  },
  {
    written: 'quota.consume({ ..., ttlMs: 5_000, signal })',
    make: () => quota.consume({ ...request, ttlMs: 5_000, signal: new AbortController().signal } as Anything),
    code: 'invalid_request',
    says: ['ttlMs: consume() has none: use reserve() or run()'],
  },
  {
    written: "quota.consume({ ..., subject: { taem: 't', user: 'u' } })",
    make: () => teams.consume({ subject: { taem: 't', user: 'u' } as Anything, operation: 'write' }),
    code: 'invalid_subject',
    says: ['subject: unknown key "taem"; did you mean "team"?'],
  },
  {
    written: "quota.consume({ ..., subject: { user: 'u' } }), where there are teams, too",
    make: () => teams.consume({ subject: { user: 'u' } as Anything, operation: 'write' }),
    code: 'invalid_subject',
    says: ['subject.team: expected text', 'got nothing'],
  },
  {
    written: "quota.consume({ subject: 'u42' })",
    make: () => quota.consume({ subject: 'u42' } as Anything),
    code: 'unknown_operation',
    says: ['operation: missing; the policy has read, write'],
  },
  {
    written: "quota.consume({ subject: 'u42', operation: 'wriet' })",
    make: () => quota.consume({ ...request, operation: 'wriet' as Anything }),
    code: 'unknown_operation',
    says: ['unknown operation "wriet"; did you mean "write"?'],
  },
  {
    written: "quota.consume({ ..., operation: 'x'.repeat(1_000_000) })",
    make: () => quota.consume({ ...request, operation: 'x'.repeat(1_000_000) as Anything }),
    code: 'unknown_operation',
    says: ['xxx…"; the policy has read, write'],
  },
  {
    written: 'quota.consume({ ..., cost: NaN })',
    make: () => quota.consume({ ...request, cost: Number.NaN }),
    code: 'invalid_cost',
    says: ['cost: expected a whole number of tokens, 0 or more, got NaN'],
  },
  {
    written: "quota.consume({ ..., cost: '3' })",
    make: () => quota.consume({ ...request, cost: '3' as Anything }),
    code: 'invalid_cost',
    says: ['cost: expected a whole number', 'got "3"'],
  },
  {
    written: 'quota.consume({ ..., cost: null })',
    make: () => quota.consume({ ...request, cost: null as Anything }),
    code: 'invalid_cost',
    says: ['cost: expected a whole number', 'got null'],
  },
  {
    written: 'quota.consume({ ..., subject: req.user?.id }), where nobody is logged in',
    make: () => quota.consume({ ...request, subject: undefined as Anything }),
    code: 'invalid_subject',
    says: ['subject: expected text', 'got nothing'],
  },
  {
    written: 'quota.consume({ ..., subject: 42 })',
    make: () => quota.consume({ ...request, subject: 42 as Anything }),
    code: 'invalid_subject',
    says: ['subject: expected text', 'got a number: use String(42)'],
  },
  {
    written: 'quota.consume({ ..., subject: findUser() }), where findUser is async',
    make: () => quota.consume({ ...request, subject: Promise.resolve('u42') as Anything }),
    code: 'invalid_subject',
    says: ['subject: ', 'got a promise: await it first'],
  },
  {
    written: "quota.consume({ ..., subject: { user: 'u42' } })",
    make: () => quota.consume({ ...request, subject: { user: 'u42' } as Anything }),
    code: 'invalid_subject',
    says: ['subject: unknown key "user"', 'one key for each of personal'],
  },
  {
    written: 'quota.reserve({ ..., id: 42 })',
    make: () => quota.reserve({ ...request, id: 42 as Anything }),
    code: 'invalid_id',
    says: ['id: expected text of 1 to 256 bytes', 'got a number'],
  },
  {
    written: 'reservation.commit(more than reserved)',
    make: async () => (await quota.reserve({ subject: 'u1', operation: 'write' })).commit(5),
    code: 'commit_above_reservation',
    says: ["can't commit 5 tokens, only 1 reserved", 'Reserve the most'],
  },
  {
    written: 'reservation.commit(), although it was refused',
    make: async () => (await quota.reserve({ subject: 'u2', operation: 'write', cost: 10_000 })).commit(),
    code: 'commit_refused',
    says: ['"write" was refused', 'check `allowed`'],
  },
  {
    written: "quota.on('refuse', listener)",
    make: () => quota.on('refuse' as Anything, () => undefined),
    code: 'invalid_options',
    says: ['on(): no event "refuse"; did you mean "refused"?'],
  },
  {
    written: "quota.on('limit', listener)",
    make: () => quota.on('limit' as Anything, () => undefined),
    code: 'invalid_options',
    says: ['there are admitted, refused, nearLimit'],
  },
  {
    written: "quota.on('refused')",
    make: () => quota.on('refused', undefined as Anything),
    code: 'invalid_options',
    says: ['on("refused", listener): expected a function, got nothing'],
  },
  {
    written: "quota.reset('u42', { limits: ['site-read-2h'] })",
    make: () => quota.reset('u42', { limits: ['site-read-2h'] } as Anything),
    code: 'invalid_reset',
    says: ['no limit "site-read-2h"; did you mean "site-read-1h"?'],
  },
  {
    written: "quota.reset('u42', { limit: 'site-read-1h' })",
    make: () => quota.reset('u42', { limit: 'site-read-1h' } as Anything),
    code: 'invalid_options',
    says: ['invalid options of reset(): limit: unknown key; did you mean "limits"?'],
  },
  {
    written: "quota.reset('u42', 'write')",
    make: () => quota.reset('u42', 'write' as Anything),
    code: 'invalid_options',
    says: ['reset(): expected an object, { limits }, got a string'],
  },
  {
    written: "quota.status('u42', { plans: 'pro' })",
    make: () => quota.status('u42', { plans: 'pro' } as Anything),
    code: 'invalid_options',
    says: ['status(): plans: unknown key; did you mean "plan"?'],
  },
  {
    written: 'quota.peek(request, { reportRefusal: true })',
    make: () => quota.peek(request, { reportRefusal: true } as Anything),
    code: 'invalid_options',
    says: ['peek(): reportRefusal: unknown key; did you mean "reportsRefusal"?'],
  },
  {
    written: 'quota.consume(...) after quota.close()',
    make: async () => {
      await closed.close()
      await closed.consume(request)
    },
    code: 'quota_closed',
    says: ['the engine is closed', 'after all work has finished'],
  },
]

const settings: readonly Mistake[] = [
  {
    written: "quota.settings.update({ mode: 'normal' }, { ifversion: 7 })",
    make: () => quota.settings.update({ mode: 'normal' }, { ifversion: 7 } as Anything),
    code: 'invalid_options',
    says: ['ifversion: unknown key; did you mean "ifVersion"?'],
  },
  {
    written: "quota.subjects.set('u42', { plan: null }, 'site')",
    make: () => quota.subjects.set('u42', { plan: null }, 'site' as Anything),
    code: 'invalid_options',
    says: ['expected an object, { ifVersion, ifRevision, by }, got a string'],
  },
  {
    written: "quota.settings.update({ mode: 'relaxed' })",
    make: () => quota.settings.update({ mode: 'relaxed' as Anything }),
    code: 'invalid_settings',
    says: ['mode: expected one of conservative, normal, lenient, adaptive, custom, got "relaxed"'],
  },
  {
    written: "quota.settings.update({ mode: 'adaptive' }), without a factor",
    make: () => quota.settings.update({ mode: 'adaptive' }),
    code: 'invalid_settings',
    says: ['mode: not available: this engine has no adaptive factor'],
  },
  {
    written: 'quota.settings.update({ shared: { sites: { multiplier: 2 } } })',
    make: () => quota.settings.update({ shared: { sites: { multiplier: 2 } } } as Anything),
    code: 'invalid_settings',
    says: ['shared.sites: unknown key; did you mean "site"?'],
  },
  {
    written: 'quota.settings.update({ shared: { site: { multiplier: 10 } } })',
    make: () => quota.settings.update({ shared: { site: { multiplier: 10 } } }),
    code: 'invalid_settings',
    says: ['shared.site.multiplier: expected a number from 0.25 to 4', 'got 10'],
  },
  {
    written: 'quota.settings.update({ prices: { wriet: 2 } })',
    make: () => quota.settings.update({ prices: { wriet: 2 } }),
    code: 'invalid_settings',
    says: ['prices.wriet: not an operation', 'did you mean "write"?'],
  },
  {
    written: 'quota.settings.update({ limits: { perHour: 5 } })',
    make: () => quota.settings.update({ limits: { perHour: 5 } } as Anything),
    code: 'invalid_settings',
    says: ['limits.perHour: unknown key'],
  },
  {
    written: "quota.settings.update({ limits: { 'site-read-1h': '5' } })",
    make: () => quota.settings.update({ limits: { 'site-read-1h': '5' } } as Anything),
    code: 'invalid_settings',
    says: ['limits.site-read-1h: expected a whole number of tokens from 0', 'got "5"'],
  },
  {
    written: "quota.settings.update({ shadow: ['site-read-1h'] })",
    make: () => quota.settings.update({ shadow: ['site-read-1h'] } as Anything),
    code: 'invalid_settings',
    says: ['shadow: expected an object of true or false by name, got an array'],
  },
  {
    written: "quota.settings.update({ shadow: { 'site-raed-1h': true } })",
    make: () => quota.settings.update({ shadow: { 'site-raed-1h': true } } as Anything),
    code: 'invalid_settings',
    says: ['shadow.site-raed-1h: not a limit: "site-raed-1h"; did you mean "site-read-1h"?'],
  },
  {
    written: "quota.settings.update({ plans: { pro: { 'site-read-1h': 5 } } })",
    make: () => quota.settings.update({ plans: { pro: { 'site-read-1h': 5 } } }),
    code: 'invalid_settings',
    says: ['plans.pro.site-read-1h: shared by all subjects: plans apply only to `by` limits'],
  },
  {
    written: 'quota.settings.update({ thresholds: [{ share: 80 }] })',
    make: () => quota.settings.update({ thresholds: [{ share: 80 }] }),
    code: 'invalid_settings',
    says: ['thresholds.0.share: expected a share above 0 and up to 1 with at most two decimals, got 80'],
  },
  {
    written: "quota.subjects.set('u42', { plan: 'pro' }), where there is no plan",
    make: () => quota.subjects.set('u42', { plan: 'pro' }),
    code: 'invalid_settings',
    says: ['plan: not a plan: "pro"; there are none'],
  },
  {
    written: "quota.subjects.set('u42', { until: { plan: new Date() } })",
    make: () => quota.subjects.set('u42', { until: { plan: new Date(0) as Anything } }),
    code: 'invalid_settings',
    says: ['until.plan: expected epoch milliseconds, or null for no end'],
  },
  {
    written: "quota.subjects.set('u42', { anchor: { day: 32 } })",
    make: () => quota.subjects.set('u42', { anchor: { day: 32 } }),
    code: 'invalid_settings',
    says: ['anchor.day: expected a whole number from 1 to 31, got 32'],
  },
  {
    written: "quota.subjects.set('u42', { limits: { 'personal-read-2h': 5 } })",
    make: () => quota.subjects.set('u42', { limits: { 'personal-read-2h': 5 } } as Anything),
    code: 'invalid_settings',
    says: ['limits.personal-read-2h: unknown key; did you mean "personal-read-1h"?'],
  },
  {
    written: "quota.subjects.set('u42', { bypass: ['site'] })",
    make: () => quota.subjects.set('u42', { bypass: ['site'] } as Anything),
    code: 'invalid_settings',
    says: ['bypass: expected an object of true or false by name, got an array'],
  },
  {
    written: "quota.subjects.set('u42', { bypass: { personal: true } })",
    make: () => quota.subjects.set('u42', { bypass: { personal: true } } as Anything),
    code: 'invalid_settings',
    says: ['bypass.personal: not a shared layer: "personal"; the policy has site'],
  },
  {
    written: "quota.subjects.get({ site: 'u42' })",
    make: () => quota.subjects.get({ site: 'u42' } as Anything),
    code: 'invalid_subject',
    says: ['site', 'personal'],
  },
]

const queue = waitingQueue(createQuota({ policy }))

const queues: readonly Mistake[] = [
  {
    written: 'waitingQueue({ quota })',
    make: () => waitingQueue({ quota } as Anything),
    code: 'invalid_options',
    says: ['expected an engine, for example from createQuota()'],
  },
  {
    written: 'waitingQueue(quota, { concurrency: 5 })',
    make: () => waitingQueue(createQuota({ policy }), { concurrency: 5 } as Anything),
    code: 'invalid_options',
    says: ['`concurrency`'],
  },
  {
    written: 'waitingQueue(quota, { maxQueueSize: 5 })',
    make: () => waitingQueue(createQuota({ policy }), { maxQueueSize: 5 } as Anything),
    code: 'invalid_options',
    says: ['the longest queue is `maxWaiting`'],
  },
  {
    written: 'waitingQueue(quota) twice',
    make: () => [quota, quota].map((each) => waitingQueue(each)),
    code: 'queue_exists',
    says: ['this engine has a queue'],
  },
  {
    written: "queue.reserve({ ..., maxWaitMs: '30s' })",
    make: () => queue.reserve({ ...request, maxWaitMs: '30s' as Anything }),
    code: 'invalid_wait',
    says: ['maxWaitMs: expected a whole number from 0 to 86400000'],
  },
  {
    written: 'queue.reserve({ ..., priority: 20 })',
    make: () => queue.reserve({ ...request, priority: 20 }),
    code: 'invalid_wait',
    says: ['priority: expected a whole number from -10 to 10, got 20'],
  },
]

describe('messages about mistakes', () => {
  testMistakes([...construction, ...POLICY_MISTAKES, ...requests, ...settings, ...queues], './mistakes.txt')
})
