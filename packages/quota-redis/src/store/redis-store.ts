import {
  type Clock,
  QuotaError,
  type QuotaStore,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota'
import { type OwnClient, ownClient } from '../client/own-client.ts'
import { Batch } from './batch.ts'
import { Deadline } from './deadline.ts'
import { storeError } from './errors.ts'
import { Keys } from './keys.ts'
import { type ParsedRedisStoreOptions, parseRedisStoreOptions, type RedisStoreOptions } from './options.ts'
import { addTo, Outbox } from './outbox.ts'
import { Sender } from './sender.ts'
import { ReadStep, ResetStep, SettleStep, type Step, TakeStep } from './steps.ts'

/** Calls that wait for an answer, or whose answer may still come; beyond it new ones fail at once. */
const MAX_UNDER_WAY = 10_000

/** A {@link QuotaStore} on one Redis, where many processes share the counters. */
export interface RedisStore extends QuotaStore {
  readonly sync: false
  /** @throws {QuotaError} `store_error` when the call was not answered in time, or nobody knows what became of it */
  take(request: TakeRequest): Promise<TakeReply>
  /** @throws {QuotaError} `store_error` */
  read(request: ReadRequest): Promise<ReadReply>
  /** @throws {QuotaError} `store_error`; the tokens may have been given back all the same */
  settle(request: SettleRequest): Promise<void>
  /** @throws {QuotaError} `store_error`; the windows may have been closed all the same */
  reset(request: ResetRequest): Promise<void>
  /**
   * Resolves when the server is connected and may be used. Calls need not wait for it.
   * @throws {QuotaError} `store_error` when it cannot be reached now, `unsafe_eviction`
   */
  ready(): Promise<void>
  /** Waits for the calls under way, a deadline at most, and leaves nothing open. Later calls reject. */
  close(): Promise<void>
}

/**
 * Counters in Redis or Valkey, exact for any number of processes: each decision is made by one script, on the server's
 * clock, over all windows at once.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const store = redisStore({ client: new Redis() })
 * const quota = createQuota({ policy: defaultPolicy(), store })
 */
export function redisStore(options: RedisStoreOptions): RedisStore {
  return new Store(parseRedisStoreOptions(options))
}

class Store implements RedisStore {
  readonly sync = false
  readonly #prefix: string
  readonly #deadlineMs: number
  readonly #testClock: Clock | undefined
  readonly #connection: OwnClient
  readonly #sender: Sender
  readonly #asked: Outbox
  /** What is given back late; it goes to a server that just answered, whatever the circuit says. */
  readonly #owed: Outbox
  readonly #sends = new Set<Promise<void>>()
  #underWay = 0
  #schema: StoreSchema | undefined
  #keys: Keys | undefined
  #closing: Promise<void> | undefined

  constructor({ client, prefix, deadlineMs, evictionPolicy, logger, testClock }: ParsedRedisStoreOptions) {
    this.#prefix = prefix
    this.#deadlineMs = deadlineMs
    this.#testClock = testClock
    this.#connection = ownClient(client, { evictionPolicy, logger })
    this.#sender = new Sender(this.#connection, deadlineMs, (steps) => this.#batchOf(steps))
    const newBatch = () => this.#batchOf([])
    const underWay = () => this.#underWay
    this.#asked = new Outbox(newBatch, (batch) => this.#follow(batch, this.#sender.send(batch)), underWay)
    this.#owed = new Outbox(newBatch, (batch) => this.#follow(batch, this.#sender.sendAnyway(batch)), underWay)
  }

  attach(schema: StoreSchema): void {
    if (this.#schema !== undefined && JSON.stringify(this.#schema) !== JSON.stringify(schema)) {
      const message = 'this Redis store already serves a policy with other windows, categories or layers'
      throw new QuotaError('store_mismatch', message)
    }
    this.#schema = schema
    this.#keys = new Keys(this.#prefix, schema)
  }

  take(request: TakeRequest): Promise<TakeReply> {
    return new Promise((resolve, reject) => {
      this.#ask(new TakeStep(request, { resolve, reject }, (settle) => this.#giveBack(settle)))
    })
  }

  read(request: ReadRequest): Promise<ReadReply> {
    return new Promise((resolve, reject) => this.#ask(new ReadStep(request, { resolve, reject })))
  }

  settle(request: SettleRequest): Promise<void> {
    return new Promise((resolve, reject) => this.#ask(new SettleStep(request, { resolve, reject })))
  }

  reset(request: ResetRequest): Promise<void> {
    return new Promise((resolve, reject) => this.#ask(new ResetStep(request, { resolve, reject })))
  }

  ready(): Promise<void> {
    return this.#connection.ready()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#asked.flush()
    const limit = new Deadline(this.#deadlineMs, () => undefined)
    await Promise.race([Promise.all(this.#sends), limit.settled])
    limit.met()
    this.#connection.close()
  }

  #ask(step: Step): void {
    if (this.#closing !== undefined) {
      step.fail(storeError('this Redis store was closed'))
    } else if (this.#underWay >= MAX_UNDER_WAY) {
      step.fail(storeError(`${MAX_UNDER_WAY} calls are under way, and no more are taken on`))
    } else {
      this.#underWay++
      this.#asked.add(step)
    }
  }

  /** An admission whose caller was turned away before it arrived. A refund that fails leaves the tokens charged. */
  #giveBack(request: SettleRequest): void {
    const ignored = () => undefined
    this.#underWay++
    this.#owed.add(new SettleStep(request, { resolve: ignored, reject: ignored }))
  }

  /** @param sending resolves when nothing of the batch is under way, and never rejects */
  #follow(batch: Batch, sending: Promise<void>): void {
    const { length } = batch.steps
    const followed = sending.then(() => {
      this.#underWay -= length
      this.#sends.delete(followed)
    })
    this.#sends.add(followed)
  }

  #batchOf(steps: readonly Step[]): Batch {
    const batch = new Batch(this.#schema!, this.#keys!, this.#testClock?.now())
    for (const step of steps) addTo(batch, step)
    return batch
  }
}
