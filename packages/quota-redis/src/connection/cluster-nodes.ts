import { nth } from '@scoregw/quota/internal'
import { Deadline } from '@scoregw/quota/store'
import type { Cluster, ClusterOptions, Redis } from 'ioredis'
import { CONNECT_TIMEOUT_MS, type Connection, type ConnectionOptions } from './connection.ts'
import { type Place, retryDelayMs } from './driver.ts'
import { isError, notConnected, withoutCommand } from './errors.ts'
import { ServerConnection, Waiters } from './server-connection.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout, clearTimeout } = globalThis
const steadyMs = performance.now.bind(performance)

/** How many slots a cluster has. */
export const SLOTS = 16_384

/** CRC-16/XMODEM of every byte. */
const CRC: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
  return crc
})

/** A key's slot: of the text in its first pair of braces, if that isn't empty; else of the whole key. */
export function keySlot(key: string): number {
  const from = key.indexOf('{')
  const to = from === -1 ? -1 : key.indexOf('}', from + 1)
  const tagged = to > from + 1 ? key.slice(from + 1, to) : key
  let crc = 0
  for (const byte of Buffer.from(tagged)) crc = ((crc << 8) & 0xffff) ^ nth(CRC, (crc >> 8) ^ byte)
  return crc % SLOTS
}

/** How often the slot table is read while a needed server is not usable, in milliseconds. */
const REFRESH_EVERY_MS = 100
/** How long a server may take to return the slot table, in milliseconds. */
const LOOK_TIMEOUT_MS = 500
/** How long a connection is kept that no slot needs any more, in milliseconds. */
const KEEP_UNUSED_MS = 10_000

/**
 * A client that only reads the slot table. It sends no commands of the store: after a redirection or a break it would
 * send them again by itself, although they may have been carried out.
 */
const OPTIONS = {
  lazyConnect: false,
  enableReadyCheck: false,
  enableOfflineQueue: false,
  enableAutoPipelining: false,
  shardedSubscribers: false,
  scripts: {},
  scaleReads: 'master',
  slotsRefreshTimeout: LOOK_TIMEOUT_MS,
  slotsRefreshInterval: 0,
  retryDelayOnFailover: 0,
  // It would use the options of its start. A new one takes the caller's options as they are now.
  clusterRetryStrategy: () => null,
} satisfies ClusterOptions

/** Its options for each server. */
const NODE_OPTIONS = {
  connectTimeout: 2 * LOOK_TIMEOUT_MS,
  maxRetriesPerRequest: 0,
  keyPrefix: '',
  commandTimeout: undefined,
  replyMapping: 'legacy',
} as const

interface NodeConnection {
  readonly server: ServerConnection
  /** When it was last needed, by a monotonic clock. */
  neededAtMs: number
}

/** The store's own connections to the servers of a cluster that serve the needed slots. */
export class ClusterNodes {
  readonly #client: Cluster
  #topology: Cluster
  /** How often reading the slot table has failed since it was last read. */
  #failures = 0
  /** The servers of each slot, as they were last read. */
  #table: Cluster['slots'] = []
  /** A client of some server, which shows how to connect. */
  #pattern: Redis | undefined
  readonly #options: ConnectionOptions
  /** By address, `host:port`. */
  readonly #connections = new Map<string, NodeConnection>()
  /** The server address of each needed slot; `undefined` while unknown. */
  readonly #addresses = new Map<number, string | undefined>()
  #waiters: Waiters | undefined = new Waiters()
  /** Runs while first connections may be awaited. */
  readonly #opening: Deadline
  #isRefreshing = false
  #timer: NodeJS.Timeout | undefined
  #restart: NodeJS.Timeout | undefined
  #lastError: unknown
  #closed = false

  constructor(client: Cluster, options: ConnectionOptions) {
    this.#client = client
    this.#options = options
    this.#opening = new Deadline(options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS)
    this.#topology = this.#newTopology()
  }

  /** The server of a slot, which may change. Its `close()` closes all connections. */
  connectionTo(slot: number): Connection {
    this.#assign(slot)
    const server = (): ServerConnection => {
      const connection = this.#at(slot)
      if (connection === undefined) throw notConnected(this.#lastError)
      return connection
    }
    const isUsable = (): boolean => this.#at(slot)?.usable === true
    const opening = (): Promise<void> | undefined => this.#openingOf(slot)
    return {
      get usable() {
        return isUsable()
      },
      get opening() {
        return opening()
      },
      get server() {
        return server()
      },
      ready: () => this.#ready(slot),
      send: async (command, ...words) => server().send(command, ...words),
      redirected: (error) => this.#redirected(error),
      close: () => this.close(),
    }
  }

  close(): void {
    this.#closed = true
    this.#opening.met()
    clearTimeout(this.#timer)
    clearTimeout(this.#restart)
    this.#topology.disconnect()
    for (const { server } of this.#connections.values()) server.close()
    this.#connections.clear()
    this.#waiters?.reject(notConnected(new Error('closed')))
    this.#waiters = undefined
  }

  #newTopology(): Cluster {
    const redisOptions = { ...this.#client.options.redisOptions, ...NODE_OPTIONS }
    const topology = this.#client.duplicate([], { ...OPTIONS, redisOptions })
    topology.on('refresh', () => this.#refreshed())
    topology.on('error', (error: { readonly lastNodeError?: unknown }) => {
      this.#lastError = withoutCommand(error.lastNodeError ?? error)
      this.#waiters?.reject(notConnected(this.#lastError))
      this.#waiters = undefined
    })
    topology.on('end', () => this.#startAgain())
    return topology
  }

  /** Begins with the servers that the caller named. */
  #startAgain(): void {
    if (this.#closed) return
    this.#restart = setTimeout(
      () => {
        this.#topology = this.#newTopology()
      },
      retryDelayMs(++this.#failures),
    )
  }

  #at(slot: number): ServerConnection | undefined {
    const address = this.#addresses.get(slot)
    return address === undefined ? undefined : this.#connections.get(address)?.server
  }

  #openingOf(slot: number): Promise<void> | undefined {
    if (!this.#opening.isRunning) return undefined
    const connection = this.#at(slot)
    const opening = connection === undefined ? this.#waiters?.promise.catch(() => undefined) : connection.opening
    return opening && Promise.race([opening, this.#opening.settled])
  }

  async #ready(slot: number): Promise<void> {
    if (this.#closed) throw notConnected(new Error('closed'))
    if (this.#addresses.get(slot) === undefined) await this.#waiters?.promise
    const connection = this.#at(slot)
    if (connection === undefined) throw notConnected(this.#lastError)
    await connection.ready()
  }

  #refreshed(): void {
    if (this.#closed) return
    this.#failures = 0
    this.#table = this.#topology.slots
    for (const slot of this.#addresses.keys()) this.#assign(slot)
    this.#dropUnused()
    this.#waiters?.resolve()
    this.#waiters = undefined
  }

  #assign(slot: number): void {
    const address = this.#table[slot]?.[0]
    if (address === undefined) this.#addresses.set(slot, undefined)
    else if (this.#addresses.get(slot) !== address) this.#serve(slot, address)
  }

  #serve(slot: number, address: string): void {
    this.#addresses.set(slot, address)
    const connection = this.#connectionTo(address)
    if (connection.usable) this.#options.onUsable?.(connection)
  }

  #connectionTo(address: string): ServerConnection {
    const known = this.#connections.get(address)
    if (known !== undefined) {
      known.neededAtMs = steadyMs()
      return known.server
    }
    const colon = address.lastIndexOf(':')
    const { options: clusterOptions } = this.#client
    // Any server of the cluster shows how to connect: with which password, with or without TLS.
    const pattern = this.#topology.nodes()[0] ?? this.#pattern
    if (pattern === undefined) throw notConnected(this.#lastError)
    this.#pattern = pattern
    const place: Place = {
      get options() {
        return { ...pattern.options, ...clusterOptions.redisOptions }
      },
      host: address.slice(0, colon),
      port: Number(address.slice(colon + 1)),
      onErrorReply: (error) => {
        const [, slot, moved] = /^MOVED (\d+) (\S+:\d+)$/.exec(error.message) ?? []
        if (moved === undefined || this.#closed) return
        this.#serve(Number(slot), this.#mapped(moved))
        this.#refresh()
      },
      onClosed: () => this.#refresh(),
    }
    const onUsable = (server: Connection) => {
      if (this.#isNeeded(address)) this.#options.onUsable?.(server)
    }
    const server = new ServerConnection(pattern, { ...this.#options, onUsable }, place)
    this.#connections.set(address, { server, neededAtMs: steadyMs() })
    return server
  }

  #isNeeded(address: string): boolean {
    return [...this.#addresses.values()].includes(address)
  }

  #dropUnused(): void {
    const nowMs = steadyMs()
    for (const [address, node] of this.#connections) {
      if (this.#isNeeded(address)) node.neededAtMs = nowMs
      else if (nowMs - node.neededAtMs > KEEP_UNUSED_MS || !node.server.usable) {
        this.#connections.delete(address)
        node.server.close()
      }
    }
  }

  /** Reads the slot table until every needed server is usable. */
  #refresh(): void {
    if (this.#closed || this.#isRefreshing) return
    this.#isRefreshing = true
    clearTimeout(this.#timer)
    this.#topology.refreshSlotsCache((error) => {
      this.#isRefreshing = false
      if (this.#closed) return
      // No known server answers. Its end starts another one.
      if (error !== undefined && error !== null && this.#topology.status === 'ready') return this.#topology.disconnect()
      if (this.#isWhole()) return
      this.#timer = setTimeout(() => this.#refresh(), REFRESH_EVERY_MS).unref()
    })
  }

  #isWhole(): boolean {
    return [...this.#addresses.keys()].every((slot) => this.#at(slot)?.usable)
  }

  #redirected(error: unknown): Promise<Connection> | undefined {
    const address = isError(error) ? /^ASK \d+ (\S+:\d+)$/.exec(error.message)?.[1] : undefined
    if (address === undefined || this.#closed) return undefined
    const connection = this.#connectionTo(this.#mapped(address))
    const asking: Connection = {
      usable: true,
      opening: undefined,
      server: connection,
      ready: () => connection.ready(),
      send: (command, ...words) => connection.sendAsking(command, ...words),
      close: () => undefined,
    }
    return connection.ready().then(() => asking)
  }

  /** The address at which the client's options reach a node. */
  #mapped(address: string): string {
    const { natMap } = this.#client.options
    const mapped = typeof natMap === 'function' ? natMap(address) : natMap?.[address]
    return mapped === undefined || mapped === null ? address : `${mapped.host}:${mapped.port}`
  }
}
