import {
  createQuota,
  memoryStore,
  type Policy,
  parsePolicy,
  type Quota,
  type QuotaLogger,
  type Subject,
} from '@scoregw/quota'
import type { MaybeAsync, RequestQuota } from '@scoregw/quota/http'
import { scoreGatewayAnswers } from '@scoregw/quota/score-gateway'
import {
  CONTROL_PATH,
  type HttpOperation,
  type HttpReply,
  type HttpRoute,
  type HttpScenario,
  type HttpSettings,
} from './scenario.ts'
import {
  failingOptions,
  failingTo,
  type Latch,
  latch,
  lateStore,
  loggerOf,
  ownAnswer,
  type StoreMood,
  StoreMoods,
} from './scripted.ts'

/** Returns a header field of a request by its lower-case name. */
export type HeaderOf = (name: string) => string | undefined

/** One request, as the suite's app sees it. */
export interface HttpCall {
  readonly header: HeaderOf
  /** The adapter's quota of the request; `undefined`: not metered. */
  readonly quota: RequestQuota | undefined
  /** Resolves when the caller has disconnected. */
  readonly gone: () => Promise<void>
}

/** Options that an adapter passes on unchanged. */
export interface HttpAppOptions extends HttpSettings {
  readonly quota: Quota<HttpOperation>
  readonly logger: QuotaLogger
}

/** 6 August 2026, 14:06:26 UTC. This clock doesn't advance. */
const START = Date.UTC(2026, 7, 6, 14, 6, 26)

const LENGTHS = ['1h', '5h', '1d'] as const

/** The score gateway's limits by their names there, with other numbers, plans, and work that takes a slot. */
function policyOf({ hourly = 10, slots }: HttpScenario): Policy<HttpOperation> {
  // Random tests make thousands of requests, so a limit of a thousand is too low.
  const wide = hourly > 1_000 ? 10 ** 9 : 1_000
  const limitsOf = (layer: 'personal' | 'site', category: string) =>
    LENGTHS.map((per) => {
      const limit = layer === 'personal' && category === 'write' && per === '1h' ? hourly : wide
      const whose = layer === 'site' ? { shared: layer } : { by: layer }
      return [`${layer}-${category}-${per}`, { ...whose, limit, per, for: category }] as const
    })
  const running = { by: 'personal', concurrency: slots, for: 'work' }
  const limits = [
    ...limitsOf('personal', 'read'),
    ...limitsOf('personal', 'write'),
    ...(slots === undefined ? [] : [['personal-write-running', running] as const]),
    ...limitsOf('site', 'read'),
    ...limitsOf('site', 'write'),
  ]
  const policy = parsePolicy({
    unit: 'tokens',
    limits: Object.fromEntries(limits),
    titles: { personal: 'Personal', site: 'Site' },
    operations: {
      look: { category: 'read', cost: 1 },
      save: { category: 'write', cost: 5 },
      huge: { category: 'write', cost: 11 },
      free: { category: 'read', cost: 0, free: true },
      chat: { category: 'write', cost: 5, overrun: 'charge', maxOverrun: 20 },
      work: { category: 'write', cost: 5 },
    },
    plans: { pro: { 'personal-write-1h': 2 * hourly } },
    answers: scoreGatewayAnswers(),
  })
  return policy as Policy<HttpOperation>
}

/** The suite's app without a framework: two engines, and handlers that follow a script. */
export class HttpApp {
  readonly scenario: HttpScenario
  readonly options: HttpAppOptions
  #second: HttpAppOptions | undefined
  readonly #moods = new StoreMoods()
  readonly #warnings: string[] = []
  readonly #errors: string[] = []
  readonly #near: string[] = []
  #worked = 0
  #running = 0
  readonly #gate: Latch = latch()
  readonly #reached: Latch = latch()
  readonly #left: Latch = latch()
  #timeOut: Latch = latch()
  #waiting = 0
  #asked = 0
  #idle: Latch = latch()

  constructor(scenario: HttpScenario) {
    this.scenario = scenario
    this.options = this.#made()
  }

  /** Options of the second engine, which only a few scenarios need. */
  get second(): HttpAppOptions {
    this.#second ??= this.#made()
    return this.#second
  }

  #made(): HttpAppOptions {
    const { settings, failing = {} } = this.scenario
    const logger = loggerOf(this.#warnings, this.#errors, failing.logger)
    return { ...settings, ...failingOptions(failing), logger, quota: this.#engine(logger) }
  }

  #engine(logger: QuotaLogger): Quota<HttpOperation> {
    const clock = { now: () => START }
    const policy = policyOf(this.scenario)
    const store = this.scenario.store === 'now' ? memoryStore({ clock }) : lateStore(clock, this.#moods)
    // The suite makes outages on purpose. They are logged as texts.
    const error = (given: unknown): void => (typeof given === 'string' ? undefined : logger.error(given))
    const quota = createQuota({ policy, store, clock, logger: { warn: () => undefined, error } })
    quota.on('waiting', ({ size }) => {
      this.#waiting = size
    })
    quota.on('waited', ({ size }) => {
      this.#waiting = size
    })
    quota.on('nearLimit', ({ limit: { name, used } }) => this.#near.push(`${name} ${used}`))
    const { listeners } = this.scenario.failing ?? {}
    if (listeners !== undefined) {
      const listener = (): unknown => failingTo(listeners, undefined)
      quota.on('decided', listener)
    }
    return quota
  }

  /** Whether any route is metered by both engines. */
  get needsSecond(): boolean {
    return this.scenario.routes.some((route) => route.second !== undefined)
  }

  #engines(): Quota<HttpOperation>[] {
    return this.#second === undefined ? [this.options.quota] : [this.options.quota, this.#second.quota]
  }

  /** The option `subject`, which reads the field `x-user`. */
  subject(header: HeaderOf): MaybeAsync<Subject | undefined> {
    const user = header('x-user')
    if (user === 'throws') throw new Error('of the application')
    if (user === 'rejects') return Promise.reject(new Error('of the application'))
    if (user === 'number') return 42 as unknown as string
    if (user === 'empty') return ''
    if (user === 'blank') return ' \t'
    this.#asked++
    if (user === 'rejects at the time-out')
      return this.#timeOut.promise.then(() => Promise.reject(new Error('too late')))
    return user?.startsWith('later:') ? Promise.resolve(user.slice(6)) : user
  }

  /** The option `cost`, which reads the field `x-cost`. Without the field, the route's cost applies. */
  cost(header: HeaderOf, own: number | undefined): MaybeAsync<number | undefined> {
    const cost = header('x-cost')
    if (cost === undefined) return own
    if (cost === 'throws') throw new Error('of the application')
    if (cost === 'rejects') return Promise.reject(new Error('of the application'))
    if (cost === 'never') return new Promise(() => this.#reached.open())
    return cost.startsWith('later:') ? Promise.resolve(Number(cost.slice(6))) : Number(cost)
  }

  /** The option `plan`, which reads the field `x-plan`. Without the field, the route's plan applies. */
  plan(header: HeaderOf, own: string | undefined): MaybeAsync<string | undefined> {
    const plan = header('x-plan')
    if (plan?.startsWith('later:')) return Promise.resolve(plan.slice(6))
    return plan === undefined ? own : failingTo(plan, plan)
  }

  /** The option `limits`, which reads the field `x-limit`: the hourly limit of writes, `null`, or either later. */
  limits(header: HeaderOf): MaybeAsync<Readonly<Record<string, number | null>> | undefined> {
    const text = header('x-limit')
    if (text === undefined) return undefined
    const numbers = (limit: string) => ({ 'personal-write-1h': limit === 'null' ? null : Number(limit) })
    if (text.startsWith('later:')) return Promise.resolve(numbers(text.slice(6)))
    return failingTo(text, numbers(text))
  }

  /** The option `skip`, which reads the field `x-skip`. */
  skip(header: HeaderOf): MaybeAsync<boolean> {
    return failingTo(header('x-skip'), false)
  }

  /**
   * The options `handler`, `onUnauthenticated` and `onUnavailable` that the scenario scripts.
   *
   * @param make makes one of them. Its function must return `play(send)`, where `send` sends the answer's status, and
   * the body `own` and the status
   */
  ownAnswers<Option>(make: (play: <T>(send: () => T) => MaybeAsync<T>) => Option): Readonly<Record<string, Option>> {
    const scripted = Object.entries(this.scenario.ownAnswers ?? {})
    return Object.fromEntries(scripted.map(([name, script]) => [name, make((send) => ownAnswer(script, send))]))
  }

  /** Resolves at the next command `time-out`. */
  timedOut(): Promise<void> {
    return this.#timeOut.promise
  }

  /** Returns the scripted reply of a route to a request. */
  replyOf(route: HttpRoute, header: HeaderOf): HttpReply {
    return route.reply === 'asked'
      ? (JSON.parse(decodeURIComponent(header('x-reply') ?? '{}')) as HttpReply)
      : route.reply
  }

  /** The start of a handler: throws immediately if the script says so. */
  begin({ fails }: HttpReply): void {
    this.#worked++
    if (fails === 'now') throw new Error('at once')
  }

  /** The steps of a handler before it responds. */
  async before(reply: HttpReply, call: HttpCall): Promise<void> {
    if (reply.waits !== undefined && reply.waits.in === undefined) await this.#wait(reply, call)
    if (reply.settlesIn === undefined) await this.#settle(reply, call)
    if (reply.fails === 'later') throw new Error('later')
  }

  /** The chunks of a streamed reply, with the script's steps in the middle. */
  async *chunks(reply: HttpReply, call: HttpCall): AsyncGenerator<string, void, undefined> {
    for (const [index, chunk] of (reply.chunks ?? []).entries()) {
      yield chunk
      if (index === 0) await this.#middle(reply, call)
    }
  }

  async #middle(reply: HttpReply, call: HttpCall): Promise<void> {
    if (reply.waits?.in === 'middle') await this.#wait(reply, call)
    if (reply.settlesIn === 'middle') await this.#settle(reply, call)
    if (reply.fails === 'middle') throw new Error('in the middle')
  }

  async #settle({ adds, settles }: HttpReply, { quota }: HttpCall): Promise<void> {
    if (quota === undefined) return
    if (adds !== undefined) await quota.add(adds)
    if (settles === undefined) return
    const settled = settles === 'cancel' ? quota.cancel() : quota.commit(settles.commit)
    settled.catch(() => undefined)
  }

  async #wait({ waits }: HttpReply, { gone }: HttpCall): Promise<void> {
    const until = waits?.for === 'gate' ? this.#gate.promise : gone()
    this.#reached.open()
    await until
    if (waits?.for !== 'gone, then gate') return
    this.#left.open()
    await this.#gate.promise
  }

  /** Counts a handler as running until the returned function is called. The suite waits for all handlers to end. */
  working(): () => void {
    this.#running++
    return () => {
      this.#running--
      if (this.#running > 0) return
      this.#idle.open()
      this.#idle = latch()
    }
  }

  /**
   * Handles a control request below {@link CONTROL_PATH}.
   *
   * @param url path and query
   * @returns a value to send as JSON
   */
  async control(url: string): Promise<unknown> {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const subject = searchParams.get('subject') ?? 'u1'
    const moodOf = (calls: string): StoreMood => (searchParams.get(calls) ?? 'here') as StoreMood
    const answers: Record<string, () => unknown> = {
      used: () => Promise.all(this.#engines().map((quota) => usedOf(quota, subject))),
      held: () => Promise.all(this.#engines().map((quota) => heldOf(quota, subject))),
      shadow: () => this.options.quota.settings.update({ shadow: { 'personal-write-1h': true } }),
      log: () => ({
        warnings: [...this.#warnings],
        errors: [...this.#errors],
        near: [...this.#near],
        worked: this.#worked,
      }),
      reached: () => this.#reached.promise,
      left: () => this.#left.promise,
      open: () => this.#gate.open(),
      idle: () => (this.#running > 0 ? this.#idle.promise : undefined),
      store: () => this.#moods.set(moodOf('takes'), moodOf('settles')),
      settling: () => this.#moods.settling,
      taking: () => this.#moods.taking,
      waiting: () => this.#waiting,
      asked: () => this.#asked,
      reset: () => this.options.quota.reset(subject),
      'time-out': () => {
        this.#timeOut.open()
        this.#timeOut = latch()
      },
      'let-go': () => this.#moods.letGo(),
    }
    const answer = answers[pathname.slice(CONTROL_PATH.length)]
    if (answer === undefined) throw new TypeError(`nothing is at ${pathname}`)
    return (await answer()) ?? null
  }
}

/** Open holds of a subject. */
async function heldOf(quota: Quota<HttpOperation>, subject: string): Promise<number> {
  return (await quota.holds.list(subject)).length
}

/** The write tokens of an hour that a subject has used. */
async function usedOf(quota: Quota<HttpOperation>, subject: string): Promise<number> {
  return (await quota.status(subject)).limits['personal-write-1h']?.used ?? 0
}
