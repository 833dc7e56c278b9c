import type { Decision, Locale, MessageTexts, Quota, Subject } from '@scoregw/quota'
import { type Fault, LOCALES, QuotaError } from '@scoregw/quota'
import type { Request, Response } from 'express'
import * as z from 'zod'
import type { QuotaHandler } from './answers.ts'
import type { QuotaLogger } from './warnings.ts'

/** A value, or a promise of one. */
export type MaybeAsync<T> = T | PromiseLike<T>

/**
 * Who is told how a request ends. `outcome`: charged before the handler and given back when the response's status is
 * 400 or above. `charge-first`: charged before the handler, never given back.
 */
export type SettleMode = 'outcome' | 'charge-first'

/** What happens to a request without a subject: 401, not metered, or metered by its network address. */
export type AnonymousMode = 'reject' | 'skip' | 'ip'

/** What one route may set for itself. */
export interface QuotaRouteOptions {
  /**
   * Who asks: one string, or one key for each layer that is not shared. `undefined`, `null`: see {@link anonymous}.
   * Never take it from what a client may freely write.
   */
  readonly subject: (req: Request) => MaybeAsync<Subject | null | undefined>
  /**
   * Tokens instead of the operation's price, a whole number, 0 or more; a function may look at the (parsed) body and
   * answer `undefined` for the price.
   * @default the operation's price
   */
  readonly cost?: number | ((req: Request) => MaybeAsync<number | undefined>) | undefined
  /** @default 'outcome' */
  readonly settle?: SettleMode | undefined
  /**
   * `true`: this request is not metered.
   * @default none is skipped
   */
  readonly skip?: ((req: Request, res: Response) => MaybeAsync<boolean>) | undefined
  /** @default 'reject' */
  readonly anonymous?: AnonymousMode | undefined
  /**
   * Answers in place of the middleware: 429, 401 of an anonymous request, 503 when the store is away.
   * @default JSON with the answer's status and body
   */
  readonly handler?: QuotaHandler | undefined
}

/** What {@link quotaMiddleware} takes. */
export interface QuotaMiddlewareOptions<Operation extends string = string> extends QuotaRouteOptions {
  /** The engine that decides. */
  readonly quota: Quota<Operation>
  /** The operation a request is charged as; `undefined`: it is not metered. Needed to serve a whole app. */
  readonly operation?: ((req: Request) => NoInfer<Operation> | undefined) | undefined
  /**
   * Where a metered request carries its {@link RequestQuota}.
   * @default 'quota'
   */
  readonly requestPropertyName?: string | undefined
  /**
   * `RateLimit` and `RateLimit-Policy` of that draft on every response of a metered request.
   * @default false
   */
  readonly standardHeaders?: 'draft-10' | false | undefined
  /**
   * Whether misconfiguration is looked for and told to the logger, each kind once.
   * @default true
   */
  readonly validate?: boolean | undefined
  /**
   * Who is told of misconfiguration and of tokens that could not be given back.
   * @default the console
   */
  readonly logger?: QuotaLogger | undefined
  /**
   * Language of answers.
   * @default by `Accept-Language`, English when it names none of ours
   */
  readonly locale?: Locale | ((req: Request) => Locale) | undefined
  /** Where people ask for a higher quota; named in the text of a 429. */
  readonly supportForumUrl?: string | undefined
  /** Texts of a 429 of the application's own, by locale. */
  readonly messages?: MessageTexts | undefined
}

/** Options of a middleware that serves a whole app. */
export interface QuotaAppOptions<Operation extends string = string> extends QuotaMiddlewareOptions<Operation> {
  readonly operation: (req: Request) => NoInfer<Operation> | undefined
}

/** The quota of one request, at `req.quota`. */
export interface RequestQuota {
  /** What was decided before the handler. */
  readonly decision: Decision
  /**
   * The work was done, whatever the response's status will be. Settles once; later calls do nothing.
   *
   * Errors reject, and the logger is told of them, so that a call nobody awaits loses nothing: `commit_above_reservation`
   * and `invalid_cost` leave the request to be settled by its outcome; `quota_unavailable` leaves it charged.
   *
   * @param actual tokens it cost, at most those reserved; the rest goes back. Default: all of them
   */
  commit(actual?: number): Promise<void>
  /** The work was not done: the tokens go back. Settles once; errors as of {@link commit}. */
  cancel(): Promise<void>
}

/** Options after their check, defaults filled in. */
export type ParsedOptions = Omit<QuotaMiddlewareOptions, keyof typeof DEFAULTS> & {
  readonly [K in keyof typeof DEFAULTS]: NonNullable<QuotaMiddlewareOptions[K]>
}

const DEFAULTS = {
  settle: 'outcome',
  anonymous: 'reject',
  requestPropertyName: 'quota',
  standardHeaders: false,
  validate: true,
  logger: console as QuotaLogger,
} as const

const ENGINE_METHODS = ['reserve', 'reserveSync', 'consume', 'consumeSync']
const aFunction = z.custom<never>((value) => typeof value === 'function', { error: 'expected a function' })

function having(methods: readonly string[], what: string): z.ZodType {
  const has = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function')
  return z.custom(has, { error: `expected ${what}` })
}

const schema: z.ZodType = z.strictObject({
  quota: having(ENGINE_METHODS, 'an engine, as createQuota() makes it'),
  subject: aFunction,
  operation: aFunction.optional(),
  cost: z
    .union([z.int().min(0), aFunction], { error: 'expected a whole number of tokens, 0 or more, or a function' })
    .optional(),
  settle: z.enum(['outcome', 'charge-first']).optional(),
  skip: aFunction.optional(),
  anonymous: z.enum(['reject', 'skip', 'ip']).optional(),
  handler: aFunction.optional(),
  requestPropertyName: z.string().min(1).optional(),
  standardHeaders: z
    .union([z.literal('draft-10'), z.literal(false)], { error: "expected 'draft-10' or false" })
    .optional(),
  validate: z.boolean().optional(),
  logger: having(['warn', 'error'], 'a logger: an object with warn() and error()').optional(),
  locale: z.union([z.enum(LOCALES), aFunction], { error: `expected ${LOCALES.join(', ')} or a function` }).optional(),
  supportForumUrl: z.url().optional(),
  messages: z.partialRecord(z.enum(LOCALES), aFunction).optional(),
})

/** @throws {QuotaError} `invalid_options` naming every fault */
export function parseOptions(options: unknown): ParsedOptions {
  const result = schema.safeParse(options)
  if (!result.success) throw invalidOptions(result.error.issues.flatMap(faultsOf))
  const given = Object.entries(result.data as object).filter(([, value]) => value !== undefined)
  return { ...DEFAULTS, ...Object.fromEntries(given) } as ParsedOptions
}

/** An `invalid_options` error that names its faults. */
export function invalidOptions(faults: readonly Fault[]): QuotaError {
  const lines = faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return new QuotaError('invalid_options', `options of quotaMiddleware() refused: ${lines.join('; ')}`, { faults })
}

/** Unknown keys are told one by one. */
function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  const path = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  return issue.keys.map((key) => ({ path: path === '' ? key : `${path}.${key}`, message: 'unknown key' }))
}
