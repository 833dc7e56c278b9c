import { type Fault, faultyDocument, type QuotaError } from '../errors/quota-error.ts'
import { kindOf } from '../errors/shown.ts'
import { type Check, type Checks, group, isPlain } from './checks.ts'
import { checked, fits } from './faults.ts'

/** Further options of an {@link optionsParser}. */
export interface ParserDetails<T extends object> {
  /** Advice for options of other libraries, when a key is unknown. */
  readonly words?: Readonly<Record<string, string>>
  /** Faults between options that are valid separately. */
  readonly between?: (options: T) => readonly Fault[]
}

/**
 * Makes a parser for a function's options. It adds defaults, rejects unknown keys, and reports all faults together.
 *
 * The checks are built when options are first parsed, so a parser at module level costs nothing. Mark the call as
 * `@__PURE__`, and bundlers remove unused parsers.
 *
 * @param call the function as users write it, `redisStore()`
 * @returns a function that throws {@link QuotaError} `invalid_options` naming the faults
 */
export function optionsParser<T extends object>(
  call: string,
  checks: () => Checks<T>,
  { words = {}, between }: ParserDetails<T> = {},
): (options: unknown) => T {
  const made = once(() => schemaOf(checks()))
  const known = { ...NAMES_ELSEWHERE, ...words }
  return (options) => {
    const mistaken = inPlaceOfOptions(call, made().checks, options)
    if (mistaken !== undefined) throw refusedOptions(call, [{ path: '', message: mistaken }])
    const { value, faults } = checked(made().schema, options, known)
    const found = faults ?? between?.(value) ?? []
    if (found.length > 0) throw refusedOptions(call, found)
    return value as T
  }
}

/** An `invalid_options` error that names faults. */
export function refusedOptions(call: string, faults: readonly Fault[]): QuotaError {
  return faultyDocument('invalid_options', `options of ${call}`, faults)
}

function schemaOf<T extends object>(checks: Checks<T>): { readonly checks: Checks<T>; readonly schema: Check<T> } {
  return { checks, schema: group(checks) }
}

/** Returns a message if a value can't be options; `undefined` if it can. */
function inPlaceOfOptions<T extends object>(call: string, checks: Checks<T>, given: unknown): string | undefined {
  const keys = typeof given === 'object' && given !== null ? Object.keys(given) : []
  const isNamed = keys.some((key) => Object.hasOwn(checks, key))
  if (isPlain(given) && (isNamed || keys.length === 0)) return undefined
  const names = Object.keys(checks) as (keyof T & string)[]
  const required = names.filter((name) => !fits(checks[name], undefined))
  const fitting =
    typeof given === 'object' || typeof given === 'function' ? names.filter((name) => belongs(checks[name], given)) : []
  const meant = fitting.find((name) => required.includes(name)) ?? fitting[0]
  if (meant !== undefined) {
    const needed = required.includes(meant) ? required : [...required, meant]
    return `expected an object, got a value for "${meant}": write ${written(call, needed)}`
  }
  if (isNamed || isPlain(given)) return undefined
  return `expected an object, ${written(call, required)}, got ${kindOf(given)}`
}

function written(call: string, names: readonly string[]): string {
  const inside = names.length === 0 ? '{ ... }' : `{ ${names.join(', ')} }`
  return call.endsWith('()') ? `${call.slice(0, -1)}${inside})` : inside
}

/** Whether an option accepts this value specifically, and not just any value. */
function belongs(check: Check<unknown>, value: unknown): boolean {
  return fits(check, value) && !fits(check, {})
}

const IN_LIMITS = 'write it in `limits`, by name: { limits: { api: { by: "user", limit: 100, per: "15m" } } }'
const SUBJECT = 'pass the caller as `subject` of each request, or use subject(req) of quotaMiddleware()'
const AWAY = 'use failurePolicy of createQuota(), by operation or category'
const NEEDLESS = 'not needed: a refusal costs nothing'
const COUNTED = 'not needed: requests that end with a status of 400 or above are refunded'

/** Options of other libraries, and what to use instead. */
const NAMES_ELSEWHERE: Readonly<Record<string, string>> = {
  windowMs: IN_LIMITS,
  timeWindow: IN_LIMITS,
  duration: IN_LIMITS,
  interval: IN_LIMITS,
  per: IN_LIMITS,
  max: IN_LIMITS,
  limit: IN_LIMITS,
  points: IN_LIMITS,
  tokensPerInterval: IN_LIMITS,
  keyGenerator: SUBJECT,
  key: SUBJECT,
  passOnStoreError: AWAY,
  skipOnError: AWAY,
  insuranceLimiter: AWAY,
  skipFailedRequests: COUNTED,
  requestWasSuccessful: COUNTED,
  skipSuccessfulRequests: "use settle: 'failures' of quotaMiddleware()",
  legacyHeaders: 'use legacyHeaders of quotaMiddleware()',
  blockDuration: NEEDLESS,
  inMemoryBlockOnConsumed: NEEDLESS,
  allowList: 'use skip(req) of quotaMiddleware()',
  statusCode: 'use handler of quotaMiddleware()',
  message: 'use messages of quotaMiddleware(), by locale',
  keyPrefix: 'use `prefix` of redisStore()',
  storeClient: 'pass it as `client` of redisStore()',
  client: 'pass `store`: redisStore({ client })',
  redis: 'pass it as `client` of redisStore()',
  sendCommand: 'pass it as `client` of redisStore()',
}

/** Returns a function that makes its value on the first call, and then returns the same value. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
