import type { QuotaLogger } from '@scoregw/quota'
import type { SettingsChange } from '@scoregw/quota/store'
import { type Connection, type RedisClient, textOf } from '../connection/connection.ts'
import { connectionTo, subscribe } from '../connection/connections.ts'
import { ChannelRights } from './keyed-settings.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setInterval, clearInterval } = globalThis

/** How long a change can go unnoticed if its message was lost, in milliseconds. */
const POLL_MS = 500

/**
 * Notifies listeners of changes made by any process. Each change leaves a unique text in Redis, and is published with
 * the text before it. A listener that has seen that one has missed nothing. Messages arrive on a separate connection. A
 * message can be lost, so the text is also read every half second. A listener that may have missed something is
 * notified that everything may have changed. So are all listeners if the store lost its data or has an older state,
 * since no text comes twice.
 */
export class ChangeFeed {
  /** Also used for the caller's own commands. */
  readonly commands: Connection
  readonly rights: ChannelRights
  readonly #client: RedisClient
  readonly #key: string
  readonly #listeners = new Set<(change: SettingsChange) => void>()
  #subscriber: Connection | undefined
  #timer: NodeJS.Timeout | undefined
  #polling = false
  /** How often everything known may have become outdated, reads in flight included. */
  #reads = 0
  /** The last reported change, `''` if there was none; `undefined` before the first read. */
  #seen: string | undefined

  /** @param key of the last change; also the channel's name */
  constructor(client: RedisClient, key: string, logger: QuotaLogger, onUsable?: () => void) {
    this.#client = client
    this.#key = key
    this.rights = new ChannelRights(key, logger)
    this.commands = connectionTo(client, key, {
      onUsable: () => {
        onUsable?.()
        void this.#readAgain()
      },
    })
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    // A new function, so that one listener can watch twice.
    const entry = (change: SettingsChange) => listener(change)
    this.#listeners.add(entry)
    this.#subscriber ??= subscribe(this.#client, this.#key, {
      onMessage: (message) => this.#onMessage(message),
      onSubscribed: () => void this.#readAgain(),
      onRefused: (reason) => this.rights.areMissing(reason),
    })
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

  #onMessage(message: string): void {
    const [, before, made, change] = /^(\S*) (\S+) (.*)$/s.exec(message) ?? []
    const isNext = this.#seen !== undefined && (before === this.#seen || made === this.#seen)
    this.#seen = made
    this.#notify((isNext && change !== undefined ? parseChange(change) : undefined) ?? { kind: 'everything' })
  }

  /** Messages may have been lost, so cached settings may be outdated. */
  #readAgain(): Promise<void> {
    this.#seen = undefined
    this.#reads++
    return this.#poll()
  }

  async #poll(): Promise<void> {
    if (this.#polling || this.#listeners.size === 0 || !this.commands.usable) return
    this.#polling = true
    const before = this.#seen
    const reads = this.#reads
    try {
      const last = textOf(await this.commands.send('GET', this.#key)) ?? ''
      // A message that arrived meanwhile is newer than this read.
      if (this.#reads !== reads || this.#seen !== before || last === before) return
      this.#seen = last
      this.#notify({ kind: 'everything' })
    } catch {
      // Read again in half a second, and when the connection is back.
    } finally {
      this.#polling = false
      if (this.#reads !== reads) void this.#poll()
    }
  }

  #notify(change: SettingsChange): void {
    for (const listener of [...this.#listeners]) listener(change)
  }
}

/** `undefined` for a text that isn't a change, or that this version doesn't know. */
function parseChange(text: string): SettingsChange | undefined {
  try {
    const { kind, layer, key } = JSON.parse(text) as Record<string, unknown>
    if (kind === 'settings' || kind === 'everything') return { kind }
    if (kind === 'subject' && typeof layer === 'string' && typeof key === 'string') return { kind, layer, key }
  } catch {
    // Another application's message.
  }
  return undefined
}
