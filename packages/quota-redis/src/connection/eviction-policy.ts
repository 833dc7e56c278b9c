import { QuotaError, type QuotaLogger } from '@scoregw/quota'
import { isReply, isReplyOf } from './errors.ts'

/**
 * The reaction to a Redis that may evict keys when its memory is full. An evicted counter restarts at zero, so more is
 * admitted than the limit allows, without a trace.
 *
 * - `require-noeviction`: the store refuses to work (`unsafe_eviction`).
 * - `warn`: it works, and logs a warning once per connection.
 */
export type EvictionPolicy = 'require-noeviction' | 'warn'

/** Sends a command. */
type SendCommand = (command: string, words: readonly string[]) => Promise<unknown>

/**
 * Reads from the server whether it may evict keys.
 *
 * @returns the fault, if there is one
 * @throws the client's error if the connection breaks meanwhile
 */
async function evictionFault(send: SendCommand): Promise<string | undefined> {
  const policy = (await fromConfig(send)) ?? (await fromInfo(send))
  if (policy === 'noeviction') return undefined
  return policy === undefined
    ? "Can't read maxmemory-policy of Redis: neither CONFIG GET nor INFO memory is allowed. Allow one of them"
    : `Redis may evict counters (maxmemory-policy is ${policy}), and limits are then exceeded unnoticed. Set noeviction`
}

/** Checks one server's eviction policy on demand. */
export class EvictionCheck {
  readonly #send: SendCommand
  readonly #wanted: EvictionPolicy
  readonly #logger: QuotaLogger
  /** The last warning, so that it is logged once. */
  #warned: string | undefined

  constructor(send: SendCommand, wanted: EvictionPolicy, logger: QuotaLogger) {
    this.#send = send
    this.#wanted = wanted
    this.#logger = logger
  }

  /** @throws {QuotaError} `unsafe_eviction` */
  async check(): Promise<void> {
    const fault = await evictionFault(this.#send)
    if (fault !== undefined && this.#wanted === 'require-noeviction') {
      throw new QuotaError('unsafe_eviction', `${fault}, or pass evictionPolicy: "warn".`)
    }
    if (fault !== undefined && fault !== this.#warned) this.#logger.warn(`${fault}.`)
    this.#warned = fault
  }
}

async function fromConfig(send: SendCommand): Promise<string | undefined> {
  const reply = await unlessRefused(send('CONFIG', ['GET', 'maxmemory-policy']))
  return Array.isArray(reply) ? String(reply[1]) : undefined
}

async function fromInfo(send: SendCommand): Promise<string | undefined> {
  const reply = await unlessRefused(send('INFO', ['memory']))
  return /^maxmemory_policy:(\S+)/m.exec(String(reply))?.[1]
}

/** Managed servers forbid or remove commands. An error reply to one of them means no more than that. */
async function unlessRefused<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply
  } catch (error) {
    // Without a password the server replies with this error only.
    if (isReplyOf(error, 'NOAUTH')) throw error
    if (isReply(error)) return undefined
    throw error
  }
}
