import type { Fault } from '../errors/quota-error.ts'
import {
  aFunction,
  type Check,
  type Checks,
  group,
  having,
  isPlain,
  oneOf,
  optional,
  textLike,
  where,
  wholeNumber,
  withDefault,
} from '../options/checks.ts'
import { faultsOf, fits, within } from '../options/faults.ts'
import { aLogger, type QuotaLogger } from '../options/logger.ts'
import { optionsParser } from '../options/options-parser.ts'
import { costCheck } from '../policy/rules.ts'
import { type Cost, unitNames } from '../policy/units.ts'
import type { FieldsOption, StandardHeaders } from './headers.ts'
import { DEFAULT_IPV6_SUBNET } from './ip-subject.ts'
import type { HttpAdapter, HttpMeterOptions, RouteOptions } from './options.ts'
import { type AnswerTexts, LOCALES, type Locale, type MessageTexts } from './texts.ts'
import { QUOTA_WARNING_CODES, type ValidateOption } from './warnings.ts'

type Defaulted =
  | 'settle'
  | 'anonymous'
  | 'abortGraceMs'
  | 'abortedAs'
  | 'ipv6Subnet'
  | 'standardHeaders'
  | 'fields'
  | 'legacyHeaders'
  | 'problemDetails'
  | 'validate'
  | 'wwwAuthenticate'

/** Validated options, with defaults. */
export type ParsedMeterOptions<Request> = Omit<HttpMeterOptions<Request>, Defaulted | 'logger'> & {
  readonly logger: QuotaLogger
} & {
  readonly [K in Defaulted]: NonNullable<HttpMeterOptions<Request>[K]>
}

/** Advice for options of other libraries. The options parser knows more such names. */
const WORDS: Readonly<Record<string, string>> = {
  keyGenerator: 'use subject(request)',
  key: 'use subject(request)',
  message: 'use messages, by locale',
  allowList: 'use skip(request)',
  statusCode: 'pass your own handler',
  errorResponseBuilder: 'pass your own handler',
  store: 'pass it to createQuota()',
  trustProxy: 'configure trusted proxies in the framework',
}

/** The checks of options that a single route can set. */
function routeChecks(): Checks<Pick<ParsedMeterOptions<never>, keyof RouteOptions<never>>> {
  return {
    subject: optional(aFunction('a function of the request')),
    cost: optional(where<Cost>(isCost, 'a whole number of tokens, 0 or more, or a function of the request')),
    settle: withDefault(oneOf('outcome', 'end', 'failures', 'charge-first'), 'outcome'),
    isFailure: optional(aFunction('a function of the status')),
    ttlMs: optional(wholeNumber(1, MAX_TTL_MS, 'milliseconds')),
    abortGraceMs: withDefault(wholeNumber(0, MAX_TTL_MS, 'milliseconds'), 5_000),
    abortedAs: withDefault(oneOf('commit', 'cancel'), 'commit'),
    plan: optional(where(isPlan, 'a name, or a function of the request')),
    limits: optional(where(isLimits, 'numbers by limit, or a function of the request')),
    skip: optional(aFunction('a function of the request')),
    anonymous: withDefault(oneOf('reject', 'skip', 'ip'), 'reject'),
    maxWaitMs: optional(wholeNumber(0, 86_400_000, 'milliseconds')),
  }
}

/** The names of {@link RouteOptions}. */
export function routeOptions(): readonly string[] {
  return Object.keys(routeChecks())
}

function checksOf<Request>(own: Readonly<Record<string, Check<unknown>>>): Checks<ParsedMeterOptions<Request>> {
  const checks: Checks<ParsedMeterOptions<never>> = {
    ...routeChecks(),
    quota: having(['reserve', 'consume'], 'an engine, for example from createQuota()'),
    operation: optional(aFunction('a function of the request')),
    address: optional(aFunction('a function of the request')),
    ipv6Subnet: withDefault(wholeNumber(1, 128, 'bits'), DEFAULT_IPV6_SUBNET),
    standardHeaders: withDefault(oneOf<StandardHeaders | false>('draft-10', 'draft-11', false), false),
    fields: withDefault(oneOf<FieldsOption>('one', 'all'), 'one'),
    legacyHeaders: withDefault(oneOf(true, false), false),
    validate: withDefault(validateCheck(), true),
    logger: aLogger(),
    locale: optional(where(isLocale, `${LOCALES.join(', ')} or a function of the request`)),
    answers: optional(aFunction('a function, for example neutralAnswers()')),
    messages: optional(messagesCheck()),
    problemDetails: withDefault(oneOf(true, false), false),
    // Printable ASCII: a line break would start another header field.
    wwwAuthenticate: withDefault(textLike(/^[\x20-\x7e]+$/, 'a challenge, for example Bearer'), 'Bearer'),
  }
  return { ...checks, ...own } as unknown as Checks<ParsedMeterOptions<Request>>
}

/** The longest lifetime of a hold, in milliseconds, even if the engine's `maxTtlMs` is larger. */
const MAX_TTL_MS = 31 * 86_400_000

function isCost(value: unknown): boolean {
  return typeof value === 'function' || isPlain(value) || (Number.isSafeInteger(value) && (value as number) >= 0)
}

function isPlan(value: unknown): boolean {
  return typeof value === 'function' || (typeof value === 'string' && value !== '')
}

function isLimits(value: unknown): boolean {
  return typeof value === 'function' || isPlain(value)
}

function isLocale(value: unknown): boolean {
  return typeof value === 'function' || LOCALES.includes(value as Locale)
}

function messagesCheck(): Check<MessageTexts> {
  const one = optional(textLike(/^/, 'a text'))
  const texts = group<object>({
    exceeded: optional(aFunction()),
    unauthorized: one,
    unavailable: one,
  } as Checks<object>)
  const what = 'a function, or an object of exceeded, unauthorized, unavailable'
  const text = where<AnswerTexts>((value) => typeof value === 'function' || fits(texts, value), what)
  return group(Object.fromEntries(LOCALES.map((locale) => [locale, optional(text)]))) as Check<MessageTexts>
}

function validateCheck(): Check<ValidateOption> {
  const codes = group(Object.fromEntries(QUOTA_WARNING_CODES.map((code) => [code, optional(oneOf(true, false))])))
  const what = `true, false, or an object of ${QUOTA_WARNING_CODES.join(', ')}`
  return where<ValidateOption>((value) => typeof value === 'boolean' || fits(codes, value), what)
}

/** Parsers by adapter, each built for the first options. */
const parsers = new WeakMap<object, (options: unknown) => object>()

/** @throws {QuotaError} `invalid_options` naming every fault */
export function parseOptions<Request>(options: unknown, adapter: HttpAdapter<Request>): ParsedMeterOptions<Request> {
  let parse = parsers.get(adapter)
  if (parse === undefined) {
    parse = parserOf(adapter)
    parsers.set(adapter, parse)
  }
  return parse(options) as ParsedMeterOptions<Request>
}

function parserOf<Request>({ name, own = () => ({}), address }: HttpAdapter<Request>): (options: unknown) => object {
  return optionsParser<ParsedMeterOptions<Request>>(name, () => checksOf(own()), {
    words: WORDS,
    between: (options) => [
      ...costFaults(options),
      ...(options.subject === undefined && options.anonymous !== 'ip'
        ? [{ path: 'subject', message: NO_SUBJECT }]
        : []),
      ...(options.anonymous !== 'ip' || options.address !== undefined || address !== undefined
        ? []
        : [{ path: 'address', message: NO_ADDRESS }]),
    ],
  })
}

/** Faults of a fixed cost: its units must be those of the engine's policy. */
function costFaults({ cost, quota }: ParsedMeterOptions<never>): Fault[] {
  if (cost === undefined || typeof cost === 'function') return []
  return within('cost', faultsOf(costCheck(unitNames(quota.policy ?? {}), { least: 0 }), cost))
}

const NO_SUBJECT = "missing; expected a function of the request, or anonymous: 'ip'"
const NO_ADDRESS = "missing; anonymous: 'ip' needs a function for an address that callers cannot choose"
