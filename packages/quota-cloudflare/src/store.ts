import { QuotaError } from '@scoregw/quota'
import { having, optional, optionsParser, textLike, withDefault } from '@scoregw/quota/internal'
import type {
  AsyncStore,
  GrowRequest,
  HoldReply,
  StoreSchema,
  SubjectKeys,
  SweepReply,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import { type Answered, type CounterCall, callObject, carried, type QuotaNamespace } from './calls.ts'
import { aNamespace, aPrefix } from './options.ts'
import type { DurableObjectSettings, ObjectSettings } from './settings.ts'
import { checkShards } from './shards.ts'

/** Options of {@link durableObjectStore}. */
export interface DurableObjectStoreOptions {
  /** The binding of the exported `QuotaDurableObject`. */
  readonly namespace: QuotaNamespace
  /**
   * A layer of the policy. Each of its keys gets its own object, and policies with shared layers are rejected.
   *
   * @default one object for all counters
   */
  readonly shardBy?: string | undefined
  /** The `settingsStore` of `createQuota()`. */
  readonly settings?: DurableObjectSettings | undefined
  /**
   * Prefix of the objects' names. Without `shardBy`, it is the name.
   *
   * @default 'quota'
   */
  readonly prefix?: string | undefined
}

interface ParsedOptions extends DurableObjectStoreOptions {
  readonly settings: ObjectSettings | undefined
  readonly prefix: string
}

const parseOptions: (options: unknown) => ParsedOptions = /* @__PURE__ */ optionsParser('durableObjectStore()', () => ({
  namespace: aNamespace(),
  shardBy: optional(textLike(/./, 'the name of a layer')),
  settings: optional(having<ObjectSettings>(['isIn', 'readSubject', 'poll'], 'durableObjectSettings()')),
  prefix: withDefault(aPrefix(), 'quota'),
}))

/**
 * Makes a store of counters in Durable Objects, for Workers. Each decision is one request to one object.
 *
 * @throws {QuotaError} `invalid_options` naming every fault; `createQuota()` throws `store_unsupported` for policies
 * that can't be sharded
 */
export function durableObjectStore(options: DurableObjectStoreOptions): AsyncStore {
  const parsed = parseOptions(options)
  const { shardBy } = parsed
  return {
    sync: false,
    can: {
      calendar: true,
      holds: true,
      concurrency: shardBy === undefined ? 'all' : 'own',
      fit: true,
      bucket: true,
      sets: shardBy === undefined,
    },
    open(schema) {
      if (shardBy !== undefined) checkShards(schema, shardBy)
      const objects = new Objects(parsed, schema)
      return {
        take: (request) => objects.take(request),
        read: (request) => objects.call('read', request),
        settle: (request) => objects.call('settle', request),
        reset: (request) => objects.call('reset', request),
        holds: {
          extend: (request) => objects.call('extend', request),
          grow: (request) => objects.grow(request),
          settle: (request) => objects.call('settleHold', request),
          list: (request) => objects.call('list', request),
          sweep: () => objects.sweep(),
        },
      }
    },
  }
}

interface Waiting {
  readonly call: CounterCall
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The objects with the counters of one policy. */
class Objects {
  readonly #options: ParsedOptions
  readonly #schema: StoreSchema
  /** Present if the settings are in the same object, which then checks each call against the newest ones. */
  readonly #exact: ObjectSettings | undefined
  /** Calls of the current microtask by object. Those of an object are sent as one request. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(options: ParsedOptions, schema: StoreSchema) {
    const { namespace, shardBy, settings, prefix } = options
    this.#options = options
    this.#schema = schema
    this.#exact = shardBy === undefined && settings?.isIn(namespace, prefix) === true ? settings : undefined
  }

  async take(request: TakeRequest): Promise<TakeReply> {
    const { settingsRevision } = request
    if (await this.#isOld(settingsRevision)) return stale(settingsRevision)
    const { subject, set, quotas, costs, id, periods, hold } = request
    // The engine's request has more members than the object needs.
    const bare: TakeRequest = { subject, set, quotas, costs, id, periods, hold }
    return this.call('take', this.#marked(bare, settingsRevision))
  }

  async grow({ settingsRevision, ...bare }: GrowRequest): Promise<HoldReply> {
    if (await this.#isOld(settingsRevision)) return stale(settingsRevision)
    return this.call('grow', this.#marked(bare, settingsRevision))
  }

  /** Adds the revision, if the object has the settings to compare it with. */
  #marked<R extends TakeRequest | GrowRequest>(request: R, settingsRevision: string | undefined): R {
    return this.#exact === undefined ? request : { ...request, settingsRevision }
  }

  async sweep(): Promise<SweepReply> {
    if (this.#options.shardBy === undefined) return this.call('sweep', { subject: '' })
    throw unsupported(
      'with shardBy, sweep() cannot reach all objects. Override quotaHoldsEnded() of QuotaDurableObject instead.',
    )
  }

  /** Sends a call to the subject's object, batched with other calls of the same microtask. */
  call<A>(method: CounterCall['method'], request: { readonly subject: SubjectKeys }): Promise<A> {
    const name = this.#nameOf(request.subject)
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(name) ?? []
      if (waiting.push({ call: { method, request }, resolve: resolve as Waiting['resolve'], reject }) > 1) return
      this.#waiting.set(name, waiting)
      queueMicrotask(() => void this.#send(name, waiting))
    })
  }

  /** Whether the settings of a request have changed since it read them. */
  async #isOld(settingsRevision: string | undefined): Promise<boolean> {
    if (settingsRevision === undefined || this.#exact !== undefined) return false
    const { settings } = this.#options
    if (settings !== undefined) return settings.changedOnUse()
    throw unsupported(
      'unknown settings store. Pass the same durableObjectSettings() to createQuota() and to this store.',
    )
  }

  #nameOf(subject: SubjectKeys): string {
    const { shardBy, prefix } = this.#options
    if (shardBy === undefined) return prefix
    return `${prefix}/${typeof subject === 'string' ? subject : subject[shardBy]}`
  }

  /** Never rejects. */
  async #send(name: string, waiting: readonly Waiting[]): Promise<void> {
    this.#waiting.delete(name)
    const calls = waiting.map(({ call }) => call)
    const seen = this.#exact?.seen
    try {
      const answers = await callObject(this.#options.namespace, name, (object) =>
        object.quotaCalls(this.#schema, calls, seen),
      )
      for (const [index, { resolve, reject }] of waiting.entries()) this.#answer(answers[index]!, resolve, reject)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  #answer(answer: Answered, resolve: Waiting['resolve'], reject: Waiting['reject']): void {
    try {
      const { value, mark } = carried(answer)
      this.#exact?.noticed(mark)
      resolve(value)
    } catch (error) {
      reject(error)
    }
  }
}

function stale(settingsRevision: string | undefined): TakeReply & HoldReply & { readonly outcome: 'stale' } {
  return { outcome: 'stale', now: Date.now(), states: [], settingsRevision }
}

function unsupported(why: string): QuotaError {
  return new QuotaError('store_unsupported', `durableObjectStore(): ${why}`)
}
