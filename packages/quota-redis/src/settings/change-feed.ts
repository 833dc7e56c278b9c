import type { SettingsChange } from '@scoregw/quota'
import type { Redis } from 'ioredis'
import type { OwnClient, RedisClient } from '../client/client-types.ts'
import { ownClient } from '../client/own-client.ts'

/** How long a change may go unheard when its message was lost, in milliseconds. */
const POLL_MS = 500

/**
 * Hears of changes made by any process. Each change raises a counter in Redis and is published with the counter's
 * value. Messages are heard on a connection of their own; as a message can be lost, the counter is also looked at every
 * half second. Whoever may have missed something is told that everything may have changed.
 */
export class ChangeFeed {
  /** For the caller's own commands, too. */
  readonly commands: OwnClient
  readonly #client: RedisClient
  readonly #key: string
  readonly #listeners = new Set<(change: SettingsChange) => void>()
  #subscriber: OwnClient | undefined
  #timer: NodeJS.Timeout | undefined
  #polling = false
  /** Counts the times after which everything before may be old, a look under way included. */
  #looks = 0
  /** The last change heard of; `undefined` before the first look. */
  #seen: number | undefined

  /** @param key the counter's key, which is also the channel's name */
  constructor(client: RedisClient, key: string, onUsable?: () => void) {
    this.#client = client
    this.#key = key
    this.commands = ownClient(client, {
      key,
      onUsable: () => {
        onUsable?.()
        void this.#lookAnew()
      },
    })
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    // A function of our own, so that one listener may watch twice.
    const entry = (change: SettingsChange) => listener(change)
    this.#listeners.add(entry)
    this.#subscriber ??= this.#subscribe()
    this.#timer ??= setInterval(() => void this.#poll(), POLL_MS).unref()
    return () => {
      this.#listeners.delete(entry)
    }
  }

  close(): void {
    this.#listeners.clear()
    clearInterval(this.#timer)
    this.#subscriber?.close()
    this.commands.close()
  }

  #subscribe(): OwnClient {
    const hearing = new WeakSet<Redis>()
    return ownClient(this.#client, {
      key: this.#key,
      onUsable: (redis) => {
        if (!hearing.has(redis)) redis.on('message', (_channel, message: string) => this.#heard(message))
        hearing.add(redis)
        // A failure closes the connection or leaves the polling to hear of changes.
        redis.subscribe(this.#key).then(
          () => this.#lookAnew(),
          () => undefined,
        )
      },
    })
  }

  #heard(message: string): void {
    const space = message.indexOf(' ')
    const count = Number(message.slice(0, space))
    const inOrder = this.#seen !== undefined && count <= this.#seen + 1
    this.#seen = count
    this.#tell((inOrder ? parseChange(message.slice(space + 1)) : undefined) ?? { kind: 'everything' })
  }

  /** After a time in which messages may have been lost: whatever is known may be old. */
  #lookAnew(): Promise<void> {
    this.#seen = undefined
    this.#looks++
    return this.#poll()
  }

  async #poll(): Promise<void> {
    if (this.#polling || this.#listeners.size === 0 || !this.commands.usable) return
    this.#polling = true
    const before = this.#seen
    const looks = this.#looks
    try {
      const count = Number((await this.commands.redis.get(this.#key)) ?? 0)
      // A message that was heard meanwhile is newer than this look.
      if (this.#looks !== looks || this.#seen !== before || count === before) return
      this.#seen = count
      this.#tell({ kind: 'everything' })
    } catch {
      // Looked at again in half a second, and when the connection is back.
    } finally {
      this.#polling = false
      if (this.#looks !== looks) void this.#poll()
    }
  }

  #tell(change: SettingsChange): void {
    for (const listener of [...this.#listeners]) listener(change)
  }
}

/** `undefined` for what is not a change, or not one that this version knows. */
function parseChange(text: string): SettingsChange | undefined {
  try {
    const { kind, layer, key } = JSON.parse(text) as Record<string, unknown>
    if (kind === 'settings' || kind === 'everything') return { kind }
    if (kind === 'subject' && typeof layer === 'string' && typeof key === 'string') return { kind, layer, key }
  } catch {
    // Not ours.
  }
  return undefined
}
