import { isIP } from 'node:net'
import { join } from 'node:path'
import { MAX_LIMIT } from '@scoregw/quota/store'
import * as z from 'zod'
import { gatewayPolicy } from '../quota/policy.ts'
import { redisUrl } from '../quota/redis-url.ts'
import { FAILURE_MODES, failureModes } from './failure-policy.ts'

/** Tokens per category, written `read=20000,write=8000`. */
const tokensByCategory = z.string().transform((text, context): Readonly<Record<string, number>> => {
  const { categories } = gatewayPolicy
  const limits: Record<string, number> = {}
  const fault = (message: string): void => {
    context.addIssue({ code: 'custom', message })
  }
  for (const entry of text.split(',')) {
    const [category = '', tokens = ''] = entry.split(/=(.*)/s).map((part) => part.trim())
    if (!categories.includes(category)) fault(`expected category=tokens with the categories ${categories.join(', ')}`)
    else if (!/^\d{1,12}$/.test(tokens) || Number(tokens) > MAX_LIMIT) {
      fault(`expected ${category}=tokens with a whole number from 0 to ${MAX_LIMIT}`)
      limits[category] = 0
    } else if (limits[category] !== undefined) fault(`expected ${category} once`)
    else limits[category] = Number(tokens)
  }
  for (const category of categories.filter((each) => limits[each] === undefined)) {
    fault(`expected tokens for ${category} too`)
  }
  return limits
})

/** The root of the repository, three folders above this example's sources. */
const ROOT = join(import.meta.dirname, '../../../..')

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'expected a port number, 0 to 65535 (0: any free port)')
  .transform(Number)
  .refine((value) => value <= 65_535, 'expected a port number, 0 to 65535 (0: any free port)')

const isHttpUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return ['http:', 'https:'].includes(protocol) && username === '' && password === ''
}

const httpUrl = z.string().refine(isHttpUrl, 'expected an http or https address')

/** A URL without a trailing slash, so that paths can be appended. */
const baseUrl = httpUrl
  .refine((text) => !/[?#]/.test(text), 'expected an address without query and fragment')
  .transform((text) => text.replace(/\/+$/, ''))

const isOrigin = (text: string): boolean => isHttpUrl(text) && new URL(text).origin === text

const origins = z
  .string()
  .transform((text) => listOf(text))
  .refine((list) => list.every(isOrigin), 'expected origins such as https://app.example.com, separated by commas')

const isProxy = (text: string): boolean => {
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

const PROCESSES_ERROR = 'expected a whole number from 1 to 1000'
const processes = z
  .string()
  .regex(/^\d{1,4}$/, PROCESSES_ERROR)
  .transform(Number)
  .refine((value) => value >= 1 && value <= 1_000, PROCESSES_ERROR)

const IMPORTS_ERROR = 'expected a whole number from 1 to 100'
const concurrentImports = z
  .string()
  .regex(/^\d{1,3}$/, IMPORTS_ERROR)
  .transform(Number)
  .refine((value) => value >= 1 && value <= 100, IMPORTS_ERROR)

const FAILURES_ERROR = 'expected a whole number from 0 to 1000000 (0: no limit)'
const failures = z
  .string()
  .regex(/^\d{1,7}$/, FAILURES_ERROR)
  .transform(Number)
  .refine((value) => value <= 1_000_000, FAILURES_ERROR)

const CONNECTIONS_ERROR = 'expected a whole number from 0 to 1000000 (0: any number)'
const connections = z
  .string()
  .regex(/^\d{1,7}$/, CONNECTIONS_ERROR)
  .transform(Number)
  .refine((value) => value <= 1_000_000, CONNECTIONS_ERROR)

const SECONDS_ERROR = 'expected a whole number from 1 to 86400'
const seconds = z
  .string()
  .regex(/^\d{1,5}$/, SECONDS_ERROR)
  .transform(Number)
  .refine((value) => value >= 1 && value <= 86_400, SECONDS_ERROR)

const gatewayToken = z.string().regex(/^gw_[A-Za-z0-9_-]{4,200}$/, 'expected gw_ and then 4 to 200 of A-Z a-z 0-9 _ -')

const chartKey = z.string().regex(/^mk_[A-Za-z0-9_-]{4,200}$/, 'expected mk_ and then 4 to 200 of A-Z a-z 0-9 _ -')

/**
 * Score sync credentials differ from those of the gateway and the chart preview, so no other credential is valid here.
 */
const botToken = z
  .string()
  .regex(
    /^(?!gw_|mk_)[A-Za-z0-9_-]{8,200}$/,
    'expected 8 to 200 of A-Z a-z 0-9 _ -, beginning with neither gw_ nor mk_',
  )

const visible = (least: number): z.ZodString =>
  z.string().regex(new RegExp(`^[!-~]{${least},512}$`), `expected ${least} to 512 visible ASCII characters`)

const TIMEOUT_ERROR = 'expected milliseconds as a whole number from 100 to 60000'
const timeoutMs = z
  .string()
  .regex(/^\d{1,5}$/, TIMEOUT_ERROR)
  .transform(Number)
  .refine((value) => value >= 100 && value <= 60_000, TIMEOUT_ERROR)

const DEADLINE_ERROR = 'expected milliseconds as a whole number from 10 to 1000'
const deadlineMs = z
  .string()
  .regex(/^\d{2,4}$/, DEADLINE_ERROR)
  .transform(Number)
  .refine((value) => value >= 10 && value <= 1_000, DEADLINE_ERROR)

const isPostgresUrl = (text: string): boolean =>
  URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol) && new URL(text).hostname !== ''

const databaseUrl = z.string().refine(isPostgresUrl, 'expected postgres://user:password@host:port/database')

/** An environment variable: its meaning, and its default as text. */
interface Variable<T extends z.ZodType = z.ZodType> {
  readonly schema: T
  readonly default: string | undefined
}

function variable<T extends z.ZodType>(schema: T, text?: string): Variable<T> {
  return { schema, default: text }
}

const burstShare = z
  .string()
  .regex(/^(?:0\.(?:0[1-9]|[1-9]\d?)|1(?:\.00?)?)$/, 'expected a share from 0.01 to 1, with at most two decimals')
  .transform(Number)

const onOrOff = z.enum(['true', 'false'], { error: 'expected true or false' }).transform((text) => text === 'true')

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** The stores for counters. */
const STORES = ['embedded', 'postgres', 'redis'] as const

/** All environment variables of the gateway. */
export const VARIABLES = {
  PORT: variable(port, '8080'),
  SYNC_PORT: variable(port, '8081'),
  CHARTS_PORT: variable(port, '8082'),
  METRICS_PORT: variable(port.optional()),
  HOST: variable(z.string().regex(/^[A-Za-z0-9.:_-]{1,255}$/, 'expected a host name or address'), '127.0.0.1'),
  PUBLIC_BASE_URL: variable(baseUrl.optional()),
  PUBLIC_SYNC_URL: variable(baseUrl.optional()),
  PUBLIC_CHARTS_URL: variable(baseUrl.optional()),
  DATA_DIR: variable(z.string().min(1, 'expected the path of a folder'), join(ROOT, '.data/gateway')),
  DATA_DIR_SHARED: variable(onOrOff, 'false'),
  DATABASE_URL: variable(databaseUrl.optional()),
  REDIS_URL: variable(redisUrl.optional()),
  REDIS_DEADLINE_MS: variable(deadlineMs, '150'),
  QUOTA_STORE: variable(z.enum(STORES, { error: `expected one of ${STORES.join(', ')}` }).optional()),
  QUOTA_FAILURE_POLICY: variable(failureModes, FAILURE_MODES),
  QUOTA_MONTHLY_LIMIT: variable(tokensByCategory.optional()),
  QUOTA_MINUTE_LIMIT: variable(tokensByCategory.optional()),
  QUOTA_MINUTE_BURST: variable(burstShare, '1'),
  QUOTA_MAX_CONCURRENT_IMPORTS: variable(concurrentImports.optional()),
  EXPECTED_PROCESSES: variable(processes, '2'),
  FAILURE_LIMIT: variable(failures, '60'),
  FAILURE_WINDOW_SECONDS: variable(seconds, '60'),
  MAX_CONNECTIONS: variable(connections, '800'),
  MAX_CONNECTIONS_PER_ADDRESS: variable(connections.optional()),
  JWT_SECRET: variable(visible(32).optional()),
  JWKS_URL: variable(httpUrl.optional()),
  JWT_ISSUER: variable(visible(1).optional()),
  JWT_AUDIENCE: variable(visible(1).optional()),
  LXNS_BASE_URL: variable(baseUrl, 'https://maimai.lxns.net/api/v0'),
  FISH_BASE_URL: variable(baseUrl, 'https://www.diving-fish.com/api/maimaidxprober'),
  SOURCE_TIMEOUT_MS: variable(timeoutMs, '10000'),
  CORS_ORIGINS: variable(origins, ''),
  TRUST_PROXY: variable(trustProxy, 'false'),
  LOG_LEVEL: variable(z.enum(LOG_LEVELS, { error: `expected one of ${LOG_LEVELS.join(', ')}` }), 'info'),
  FAILURE_RATE_PUBLIC: variable(onOrOff, 'false'),
  SUPPORT_FORUM_URL: variable(httpUrl, 'https://forum.example.com/quota'),
  DEMO_USER_TOKEN: variable(gatewayToken.optional()),
  DEMO_ADMIN_TOKEN: variable(gatewayToken.optional()),
  BOT_TOKEN: variable(botToken.optional()),
  CHART_API_KEY: variable(chartKey.optional()),
  NODE_ENV: variable(
    z.enum(['development', 'test', 'production'], { error: 'expected development, test or production' }),
    'development',
  ),
} as const

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
