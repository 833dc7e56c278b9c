import { env as bound, DurableObject } from 'cloudflare:workers'
import { type Counting, createQuota, definePolicy, type Quota, type QuotaError } from '@scoregw/quota'
import type { EndedHold } from '@scoregw/quota/store'
import { quotaFetch } from '@scoregw/quota-fetch'
import { durableObjectSettings, durableObjectStore, QuotaDurableObject } from '../../src/index.ts'
import { type Env, named } from './env.ts'

const env = bound as Env

/** The work of SQLite that the platform bills. */
const billed = { statements: 0, read: 0, written: 0 }
const ended: EndedHold[] = []

export class CountedObject extends QuotaDurableObject<Env> {
  constructor(ctx: ConstructorParameters<typeof QuotaDurableObject>[0], env: Env) {
    count((ctx as unknown as CountedObject['ctx']).storage.sql)
    super(ctx, env)
  }

  protected override quotaHoldsEnded(holds: readonly EndedHold[]): void {
    ended.push(...holds)
  }

  #aheadMs = 0
  #stepMs = 0

  /** From now on, a reading of the clock is this much later than the one before. */
  tick(stepMs: number): void {
    this.#stepMs = stepMs
  }

  protected override now(): number {
    this.#aheadMs += this.#stepMs
    return super.now() + this.#aheadMs
  }

  abort(): void {
    this.ctx.abort('by a test')
  }

  /** The runtime refuses calls of `alarm()` itself. */
  async ring(): Promise<void> {
    await this.alarm()
  }

  async alarmAt(): Promise<number | null> {
    return this.ctx.storage.getAlarm()
  }
}

let slowCalls = 0

/** Settings that answer after a while. */
export class SlowObject extends DurableObject<Env> {
  async quotaSettings(): Promise<unknown> {
    slowCalls++
    await new Promise((resolve) => setTimeout(resolve, 400))
    return { value: undefined, mark: '' }
  }
}

function count(sql: { exec(text: string, ...values: readonly unknown[]): unknown }): void {
  const exec = sql.exec.bind(sql)
  sql.exec = (text, ...values) => {
    const cursor = exec(text, ...values) as {
      toArray(): unknown[]
      readonly rowsRead: number
      readonly rowsWritten: number
    }
    const rows = cursor.toArray()
    billed.statements++
    billed.read += cursor.rowsRead
    billed.written += cursor.rowsWritten
    return { toArray: () => rows }
  }
}

const strictly = [3, 1e6, 1e9] as const
const many = [1e6, 1e9, 1e9] as const
const ofUsers = ([requests, tokens, money]: readonly [number, number, number]) =>
  ({
    userRequests: { by: 'user', limit: requests, per: '1h' },
    userTokens: { by: 'user', limit: tokens, of: 'tokens', per: '1d' },
    userMoney: { by: 'user', limit: money, of: 'microusd', per: '30d' },
  }) as const
const operations = { chat: { cost: { tokens: 10, microusd: 100 } } } as const
/** Teams have limits of their own. */
const separate = (numbers: readonly [number, number, number]) =>
  definePolicy({
    limits: {
      ...ofUsers(numbers),
      teamRequests: { by: 'team', limit: many[0], per: '1h' },
      teamTokens: { by: 'team', limit: many[1], of: 'tokens', per: '1d' },
      teamMoney: { by: 'team', limit: many[2], of: 'microusd', per: '30d' },
    },
    operations,
  })
/** All share one team. */
const together = definePolicy({
  limits: {
    ...ofUsers(many),
    teamRequests: { shared: 'team', limit: many[0], per: '1h' },
    teamTokens: { shared: 'team', limit: many[1], of: 'tokens', per: '1d' },
    teamMoney: { shared: 'team', limit: many[2], of: 'microusd', per: '30d' },
  },
  operations,
})
const namespace = env.QUOTA
const slow = () => durableObjectSettings({ namespace: env.SETTINGS })
const sharded = (settings?: ReturnType<typeof slow>) =>
  createQuota({
    policy: separate(many),
    store: durableObjectStore({ namespace, shardBy: 'team', settings }),
    deadlineMs: 10_000,
    ...(settings === undefined ? {} : { settingsStore: settings }),
  })

const quotas: Record<string, Quota<'chat', Counting>> = {
  sharded: sharded(),
  slow: sharded(slow()),
  one: createQuota({ policy: together, store: durableObjectStore({ namespace }) }),
}
/** Two Workers that know nothing of each other: an administrator's and a user's. */
const workers = (shardBy: 'team' | undefined) =>
  [0, 1].map(() => {
    const settings = durableObjectSettings({ namespace, prefix: 'live', maxAgeMs: 0 })
    const store = durableObjectStore({ namespace, prefix: 'live', shardBy, settings })
    return createQuota({ policy: separate(many), store, settingsStore: settings, deadlineMs: 10_000 })
  })
const live = { one: workers(undefined), sharded: workers('team') }

/** Whether a request in the other Worker is admitted after each change of everyone's settings, then of the user's. */
async function followed(name: keyof typeof live, user: string): Promise<boolean[]> {
  const [admin, worker] = live[name] as [ReturnType<typeof sharded>, ReturnType<typeof sharded>]
  const admitted = async () => (await worker.consume({ subject: { user, team: 'any' }, operation: 'chat' })).allowed
  const answers = [await admitted()]
  for (const limit of [0, 1e6]) {
    await admin.settings.update({ limits: { userRequests: limit } })
    answers.push(await admitted())
  }
  for (const limit of [0, 1e6]) {
    await admin.subjects.set({ user }, { limits: { userRequests: limit } })
    answers.push(await admitted())
  }
  return answers
}

/** The errors of a shared layer over several objects, and of settings that the store does not know. */
async function mistakes(subject: { readonly user: string; readonly team?: string }): Promise<string[]> {
  const messages: string[] = []
  const caught = (error: unknown): void => void messages.push(`${(error as QuotaError).code}: ${error}`)
  try {
    createQuota({ policy: together, store: durableObjectStore({ namespace, shardBy: 'user' }) })
  } catch (error) {
    caught(error)
  }
  const settingsStore = durableObjectSettings({ namespace })
  const quota = createQuota({ policy: together, store: durableObjectStore({ namespace }), settingsStore })
  await quota.consume({ subject: subject.user, operation: 'chat' }).catch(caught)
  return messages
}

const subjectOf = (request: Request) => ({ user: request.headers.get('x-user')!, team: request.headers.get('x-team')! })
const strict = createQuota({
  policy: separate(strictly),
  store: durableObjectStore({ namespace, shardBy: 'team', prefix: 'strict' }),
})
const metered = quotaFetch({ quota: strict, subject: subjectOf, operation: () => 'chat' })
const handler = metered(() => Response.json({ hello: 'world' }))

async function answer(request: Request): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url)
  const name = searchParams.get('quota') ?? 'sharded'
  const quota = quotas[name]!
  const { user, team } = subjectOf(request)
  const subject = name === 'one' ? { user } : { user, team }
  switch (pathname) {
    case '/used':
      return Object.values((await quota.status(subject)).limits).map((limit) => limit?.used)
    case '/consume':
      return (await quota.consume({ subject, operation: 'chat' })).allowed
    case '/refused':
      return (await quota.consume({ subject, operation: 'chat', cost: { requests: 1, tokens: 1e10, microusd: 1 } }))
        .allowed
    case '/charge': {
      return (await quota.reserve({ subject, operation: 'chat', id: searchParams.get('id')! })).status
    }
    case '/hold':
      return (await quota.reserve({ subject, operation: 'chat', ttlMs: Number(searchParams.get('ttl')) })).allowed
    case '/hold-and-commit': {
      const held = await quota.reserve({ subject, operation: 'chat', ttlMs: 60_000 })
      if (held.allowed) await held.commit()
      return held.allowed
    }
    case '/ended':
      return ended.length
    case '/billed':
      return billed
    case '/abort':
      return named<CountedObject>(namespace, searchParams.get('name')!).abort().catch(String)
    case '/tick':
      return named<CountedObject>(namespace, searchParams.get('name')!).tick(Number(searchParams.get('ms')))
    case '/alarm':
      return named<CountedObject>(namespace, searchParams.get('name')!).ring()
    case '/alarm-at':
      return named<CountedObject>(namespace, searchParams.get('name')!).alarmAt()
    case '/mistakes':
      return mistakes(subject)
    case '/followed':
      return followed(searchParams.get('how') as keyof typeof live, user)
    case '/slow-calls':
      if (searchParams.has('new-engine')) quotas.slow = sharded(slow())
      return slowCalls
    default:
      throw new Error(`no such path: ${pathname}`)
  }
}

export default {
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === '/metered') return handler(request)
    try {
      return Response.json((await answer(request)) ?? null)
    } catch (error) {
      return Response.json(String(error), { status: 500 })
    }
  },
}
