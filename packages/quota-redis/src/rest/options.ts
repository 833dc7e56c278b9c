import type { Clock, QuotaLogger } from '@scoregw/quota'
import {
  aClock,
  aFunction,
  aLogger,
  type Checks,
  oneOf,
  optional,
  optionsParser,
  where,
  wholeNumber,
  withDefault,
} from '@scoregw/quota/internal'
import { prefixCheck, WORDS } from '../store/options.ts'

/** Options of {@link redisRestStore}. */
export interface RedisRestStoreOptions {
  /** The database's address, `https://…`. */
  readonly url: string
  /** Sent as `Authorization: Bearer …`, and never part of an error. It must be allowed to write. */
  readonly token: string
  /**
   * Sends the requests. It must not retry them.
   *
   * @default the runtime's
   */
  readonly fetch?: typeof fetch | undefined
  /**
   * The beginning of every key, the same as for other processes that share these counters.
   *
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * Deadline of a call in milliseconds, 10 to 60,000. After it the call rejects with `store_error`, and the failure
   * policy decides.
   *
   * @default 1,000
   */
  readonly deadlineMs?: number | undefined
  /**
   * Whether calls of the same event-loop tick share a request. Set `false` if your runtime drops a request's remaining
   * work when it ends.
   *
   * @default true; false in Cloudflare Workers
   */
  readonly batch?: boolean | undefined
  /**
   * Receives warnings; `false` silences it.
   *
   * @default the console
   */
  readonly logger?: QuotaLogger | false | undefined
  /** Replaces the server's clock in tests. Every store on the same keys needs the same one. */
  readonly testClock?: Clock | undefined
}

/** Options after their check, defaults filled in. */
export type ParsedRestOptions = Omit<RedisRestStoreOptions, 'logger'> & {
  readonly logger: QuotaLogger
  readonly prefix: string
  readonly deadlineMs: number
  readonly batch: boolean
}

const isText = (value: unknown): boolean => typeof value === 'string'

const NOT_BY_REST =
  'not available by HTTP: it needs a connection of its own, redisStore() and an ioredis or node-redis client'

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseRestOptions: (options: unknown) => ParsedRestOptions = /* @__PURE__ */ optionsParser(
  'redisRestStore()',
  (): Checks<ParsedRestOptions> => ({
    url: where(isText, 'the address of a database, https://…'),
    token: where(isText, 'the token of the database'),
    fetch: optional(aFunction<typeof fetch>()),
    prefix: withDefault(prefixCheck(), 'quota'),
    deadlineMs: withDefault(wholeNumber(10, 60_000, 'milliseconds'), 1_000),
    batch: withDefault(oneOf(true, false), navigatorName() !== 'Cloudflare-Workers'),
    logger: aLogger(),
    testClock: optional(aClock()),
  }),
  {
    words: {
      ...WORDS,
      client: 'the server is named by `url` and `token`',
      redis: 'the server is named by `url` and `token`',
      leases: NOT_BY_REST,
      broadcast: NOT_BY_REST,
      retry: 'nothing is sent twice: raise `deadlineMs`',
    },
    between: ({ url, token }) => [
      ...(isPlainAddress(url) ? [] : [{ path: 'url', message: ADDRESS }]),
      // `fetch` would show an invalid token in its error.
      ...(/^[\x21-\x7e]+$/.test(token) ? [] : [{ path: 'token', message: 'expected one word of printable ASCII' }]),
    ],
  },
)

const ADDRESS = 'expected https://host without user, password and query; the token is an option of its own'

function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}` === ''
}

function navigatorName(): string | undefined {
  return (globalThis as { readonly navigator?: { readonly userAgent?: string } }).navigator?.userAgent
}
