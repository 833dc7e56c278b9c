import { isIP } from 'node:net'
import { join } from 'node:path'
import { nearest } from '@scoregw/quota/internal'
import * as z from 'zod'
import { redisUrl } from '../quota/redis-url.ts'
import { ConfigError } from '../start/start-error.ts'
import { FAILURE_MODES, failureModes, failurePolicyOf } from './failure-policy.ts'

/** The root of the repository, three folders above this example's sources. */
const ROOT = join(import.meta.dirname, '../../../..')

/** A whole number as text. */
function whole(least: number, most: number, meaning = ''): z.ZodType<number> {
  const error = `expected a whole number from ${least} to ${most}${meaning}`
  return z
    .string()
    .regex(/^\d{1,7}$/, error)
    .transform(Number)
    .refine((value) => value >= least && value <= most, error)
}

const port = whole(0, 65_535, ' (0: any free port)')

const visible = (least: number): z.ZodString =>
  z.string().regex(new RegExp(`^[!-~]{${least},512}$`), `expected ${least} to 512 visible ASCII characters`)

const token = (pattern: RegExp, meaning: string) => z.string().regex(pattern, `expected ${meaning}`).optional()
const gatewayToken = token(/^gw_[A-Za-z0-9_-]{4,200}$/, 'gw_ and then 4 to 200 of A-Z a-z 0-9 _ -')

const onOrOff = z.enum(['true', 'false'], { error: 'expected true or false' }).transform((text) => text === 'true')
const oneOf = <const T extends string>(names: readonly T[]) =>
  z.enum(names, { error: `expected one of ${names.join(', ')}` })

function hasProtocol(text: string, ...protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol) && new URL(text).hostname !== ''
}

function isHttpUrl(text: string): boolean {
  return hasProtocol(text, 'http:', 'https:') && new URL(text).username === '' && new URL(text).password === ''
}

const httpUrl = z.string().refine(isHttpUrl, 'expected an http or https address')

/** A URL without a trailing slash, so that paths can be appended. */
const baseUrl = httpUrl
  .refine((text) => !/[?#]/.test(text), 'expected an address without query and fragment')
  .transform((text) => text.replace(/\/+$/, ''))

const databaseUrl = z
  .string()
  .refine(
    (text) => hasProtocol(text, 'postgres:', 'postgresql:'),
    'expected postgres://user:password@host:port/database',
  )

const origins = z
  .string()
  .transform(listOf)
  .refine(
    (list) => list.every((text) => isHttpUrl(text) && new URL(text).origin === text),
    'expected origins such as https://app.example.com, separated by commas',
  )

function isProxy(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const most = isIP(address) === 6 ? 128 : 32
  return isIP(address) !== 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && +bits <= most))
}

/** The Express setting "trust proxy": none, a number of proxies, or their addresses. */
const trustProxy = z
  .string()
  .transform((text): false | number | string[] => {
    if (text === 'false') return false
    return /^\d{1,2}$/.test(text) ? Number(text) : listOf(text)
  })
  .refine((value) => !Array.isArray(value) || (value.length > 0 && value.every(isProxy)), {
    error: 'expected false, a number of proxies, or their addresses (or address/bits) separated by commas',
  })

/** All environment variables of the gateway, with their defaults. Others don't exist. */
const VARIABLES = z.object({
  PORT: port.prefault('8080'),
  SYNC_PORT: port.prefault('8081'),
  CHARTS_PORT: port.prefault('8082'),
  /** Absent: metrics have no port of their own. */
  METRICS_PORT: port.optional(),
  HOST: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]{1,255}$/, 'expected a host name or address')
    .prefault('127.0.0.1'),
  /** The URLs for clients, without a trailing slash; absent: the addresses that the services listen on. */
  PUBLIC_BASE_URL: baseUrl.optional(),
  PUBLIC_SYNC_URL: baseUrl.optional(),
  PUBLIC_CHARTS_URL: baseUrl.optional(),
  /** The folder of the embedded database and the demo's credentials. */
  DATA_DIR: z.string().prefault(join(ROOT, '.data/gateway')),
  /** Whether several processes may use the embedded database. Each waits while another one writes. */
  DATA_DIR_SHARED: onOrOff.prefault('false'),
  /** Absent: the embedded database. */
  DATABASE_URL: databaseUrl.optional(),
  REDIS_URL: redisUrl.optional(),
  REDIS_DEADLINE_MS: whole(10, 60_000, ' milliseconds').prefault('1000'),
  QUOTA_FAILURE_POLICY: failureModes.prefault(FAILURE_MODES),
  EXPECTED_PROCESSES: whole(1, 1_000).prefault('2'),
  MAX_CONNECTIONS: whole(0, 1_000_000, ' (0: any number)').prefault('800'),
  JWT_SECRET: visible(32).optional(),
  JWKS_URL: httpUrl.optional(),
  JWT_ISSUER: visible(1).optional(),
  JWT_AUDIENCE: visible(1).optional(),
  LXNS_BASE_URL: baseUrl.prefault('https://maimai.lxns.net/api/v0'),
  FISH_BASE_URL: baseUrl.prefault('https://www.diving-fish.com/api/maimaidxprober'),
  SOURCE_TIMEOUT_MS: whole(100, 60_000, ' milliseconds').prefault('10000'),
  CORS_ORIGINS: origins.prefault(''),
  TRUST_PROXY: trustProxy.prefault('false'),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).prefault('info'),
  /** Whether everyone may see the outcomes of all requests. */
  FAILURE_RATE_PUBLIC: onOrOff.prefault('false'),
  SUPPORT_FORUM_URL: httpUrl.prefault('https://forum.example.com/quota'),
  /** Credentials of the demo. Absent ones are made once and kept. */
  DEMO_USER_TOKEN: gatewayToken,
  DEMO_ADMIN_TOKEN: gatewayToken,
  BOT_TOKEN: token(
    /^(?!gw_|mk_)[A-Za-z0-9_-]{8,200}$/,
    '8 to 200 of A-Z a-z 0-9 _ -, beginning with neither gw_ nor mk_',
  ),
  CHART_API_KEY: token(/^mk_[A-Za-z0-9_-]{4,200}$/, 'mk_ and then 4 to 200 of A-Z a-z 0-9 _ -'),
  NODE_ENV: oneOf(['development', 'test', 'production']).prefault('development'),
})

/** The names of all variables. */
export const NAMES: readonly string[] = Object.keys(VARIABLES.shape)

/** What variables are when they are not set. */
export const DEFAULTS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(VARIABLES.shape).flatMap(([name, schema]) =>
    schema instanceof z.ZodPrefault ? [[name, String(schema.def.defaultValue)]] : [],
  ),
)

/**
 * The gateway's configuration, under the names of its variables. Addresses of stores contain credentials: never show
 * them.
 */
export type Config = ReturnType<typeof loadConfig>

/**
 * Reads the configuration. An empty variable counts as not set.
 *
 * @throws {ConfigError} naming every fault
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>) {
  const given = Object.fromEntries(Object.entries(env).filter(([, text]) => text !== undefined && text !== ''))
  const { data, error } = VARIABLES.safeParse(given)
  const faults = (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)
  faults.push(...crossFaults({ ...DEFAULTS, ...given }))
  const misspelt = misspeltIn(given)
  if (env.NODE_ENV === 'production') faults.push(...misspelt)
  if (data === undefined || faults.length > 0) throw new ConfigError(faults)
  return {
    ...data,
    failurePolicy: failurePolicyOf(data.QUOTA_FAILURE_POLICY, data.EXPECTED_PROCESSES),
    /** Variables that are almost the gateway's. In production they are faults. */
    misspelt,
  }
}

const PORTS = ['PORT', 'SYNC_PORT', 'CHARTS_PORT', 'METRICS_PORT'] as const
const DEMO = ['DEMO_USER_TOKEN', 'DEMO_ADMIN_TOKEN', 'BOT_TOKEN', 'CHART_API_KEY'] as const

/** Variables as they are given. Whether each is valid by itself doesn't matter here. */
type Texts = Readonly<Record<string, string | undefined>>

/** Faults of variables together. */
function crossFaults(texts: Texts): string[] {
  const { NODE_ENV, JWT_SECRET, JWKS_URL, DEMO_USER_TOKEN, DEMO_ADMIN_TOKEN } = texts
  const faults = portFaults(texts)
  if (JWT_SECRET !== undefined && JWKS_URL !== undefined) {
    faults.push('JWKS_URL: signatures are checked by JWT_SECRET or by JWKS_URL; leave one of them out')
  }
  if (NODE_ENV === 'production') {
    const isUnsigned = JWT_SECRET === undefined && JWKS_URL === undefined
    if (isUnsigned) faults.push('JWT_SECRET: needed with NODE_ENV=production, unless JWKS_URL is given')
    const given = DEMO.filter((name) => texts[name] !== undefined)
    faults.push(...given.map((name) => `${name}: there is no demo with NODE_ENV=production; leave it out`))
  } else if (DEMO_USER_TOKEN !== undefined && DEMO_USER_TOKEN === DEMO_ADMIN_TOKEN) {
    faults.push('DEMO_ADMIN_TOKEN: must differ from DEMO_USER_TOKEN')
  }
  return faults
}

function portFaults(texts: Texts): string[] {
  return PORTS.flatMap((name, index) => {
    const port = Number(texts[name] ?? 0)
    const other = port === 0 ? undefined : PORTS.slice(0, index).find((earlier) => Number(texts[earlier]) === port)
    return other === undefined ? [] : [`${name}: ${port} is ${other} too; give each a port of its own`]
  })
}

/** Says which variable a misspelt one was probably meant to be, without its value, which may be a secret. */
function misspeltIn(given: Texts): string[] {
  // If the known variable is also set, the similar one is meant for something else.
  const unset = NAMES.filter((name) => given[name] === undefined)
  return Object.keys(given).flatMap((name) => {
    const meant = NAMES.includes(name) ? undefined : nearest(name, unset)
    return meant === undefined ? [] : [`${name}: is no variable of the gateway; ${meant} was probably meant`]
  })
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
