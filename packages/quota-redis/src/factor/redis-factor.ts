import type { QuotaLogger } from '@scoregw/quota'
import type { FactorState, FactorStore, VersionedFactor } from '@scoregw/quota/adaptive'
import { newRevision, type SettingsChange } from '@scoregw/quota/store'
import { carryOut, type RedisClient, type Reply, textOf } from '../connection/connection.ts'
import { storeError } from '../connection/errors.ts'
import publish from '../lua/publish.lua'
import { scriptOf } from '../lua/script.ts'
import { ChangeFeed } from '../settings/change-feed.ts'
import { type RedisSettingsOptions, settingsOptionsParser } from '../store/options.ts'
import compareAndSet from './compare-and-set.lua'

/** The options of {@link redisFactor}. */
export interface RedisFactorOptions extends RedisSettingsOptions {}

/** A {@link FactorStore} in Redis: one factor for all processes with the same server and prefix. */
export interface RedisFactor extends FactorStore {
  read(): Promise<VersionedFactor | undefined>
  compareAndSet(expectedVersion: number, minute: number, state: FactorState): Promise<boolean>
  /** Closes the connections. Later calls, and calls in flight, reject. */
  close(): void
}

const parseOptions = /* @__PURE__ */ settingsOptionsParser('redisFactor()')

const COMPARE_AND_SET = scriptOf(compareAndSet, { '../lua/publish': publish })

/** The feed reports which part changed; here there is only one. */
const CHANGE: SettingsChange = { kind: 'everything' }

/**
 * The adaptive factor in Redis, in one hash. Every process reports a move within a second, even if its message is lost.
 * Calls reject with the client's error or `store_error` while the server does not answer. A write that rejects may have
 * happened, and never happens twice.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function redisFactor(options: RedisFactorOptions): RedisFactor {
  const { client, prefix, logger } = parseOptions(options)
  return new Store(client, `{${prefix}}:factor`, logger)
}

class Store implements RedisFactor {
  readonly #feed: ChangeFeed
  readonly #key: string
  readonly #changes: string

  constructor(client: RedisClient, key: string, logger: QuotaLogger) {
    this.#key = key
    this.#changes = `${key}:changes`
    this.#feed = new ChangeFeed(client, this.#changes, logger)
  }

  async read(): Promise<VersionedFactor | undefined> {
    const fields = (await carryOut(this.#feed.commands, (connection) =>
      connection.send('HMGET', this.#key, 'version', 'minute', 'state'),
    )) as readonly Reply[]
    const [version, minute, state] = fields.map(textOf)
    if (version === undefined || minute === undefined || state === undefined) return undefined
    return { version: Number(version), minute: Number(minute), state: parse(this.#key, state) }
  }

  async compareAndSet(expectedVersion: number, minute: number, state: FactorState): Promise<boolean> {
    const words = [expectedVersion, minute, JSON.stringify(state), newRevision(), JSON.stringify(CHANGE)]
    const reply = await carryOut(this.#feed.commands, (connection) =>
      connection.send('EVAL', COMPARE_AND_SET.text, 2, this.#key, this.#changes, ...words),
    )
    const [written, unpublished] = reply as readonly [number, Buffer?]
    if (unpublished) this.#feed.rights.areMissing(unpublished.toString())
    return written === 1
  }

  watch(listener: () => void): () => void {
    return this.#feed.watch(() => listener())
  }

  close(): void {
    this.#feed.close()
  }
}

function parse(key: string, text: string): FactorState {
  try {
    return JSON.parse(text) as FactorState
  } catch (error) {
    throw storeError(`the adaptive factor at ${key} is not JSON`, error)
  }
}
