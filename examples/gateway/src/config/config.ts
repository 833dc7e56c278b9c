import type { FailurePolicy } from '@scoregw/quota'
import { nearest } from '@scoregw/quota/options'
import type * as z from 'zod'
import type { ConnectionLimits } from '../http/connections.ts'
import type { ConfiguredLimits } from '../quota/policy.ts'
import { ConfigError } from '../start/start-error.ts'
import { failurePolicyOf } from './failure-policy.ts'
import { VARIABLES } from './variables.ts'

type Values = { readonly [Name in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[Name]['schema']> }

/** The validated configuration of the gateway. */
export interface Config {
  readonly port: number
  readonly syncPort: number
  readonly chartsPort: number
  /** Absent: metrics have no port of their own. */
  readonly metricsPort: number | undefined
  readonly host: string
  /** The gateway's URL for clients, without a trailing slash; absent: the address that the server listens on. */
  readonly publicBaseUrl: string | undefined
  readonly publicSyncUrl: string | undefined
  readonly publicChartsUrl: string | undefined
  /** The folder of the embedded database and the demo's credentials. */
  readonly dataDir: string
  /** Whether several processes may use the embedded database. Each waits while another one writes. */
  readonly isDataDirShared: boolean
  /** The URL of PostgreSQL. It contains credentials, so never show it. Absent: the embedded database. */
  readonly databaseUrl: string | undefined
  /**
   * The URL of a Redis that several processes share. It contains credentials, so never show it. Absent: counters in
   * this process.
   */
  readonly redisUrl: string | undefined
  /** How long a decision waits for Redis, in milliseconds. */
  readonly redisDeadlineMs: number
  /** The store of the counters. */
  readonly quotaStore: 'embedded' | 'postgres' | 'redis'
  /** Whether requests are admitted while the counters are unavailable, by category. */
  readonly failurePolicy: Readonly<Record<string, FailurePolicy>>
  /** Limits in addition to the gateway's own. */
  readonly limits: ConfiguredLimits
  /** How many requests of a caller may fail per window. A limit of 0: any number. */
  readonly failures: { readonly limit: number; readonly windowMs: number }
  readonly connections: ConnectionLimits
  readonly jwt: JwtConfig
  readonly sources: { readonly lxnsBaseUrl: string; readonly fishBaseUrl: string; readonly timeoutMs: number }
  /** Origins whose pages may call the gateway. */
  readonly corsOrigins: readonly string[]
  readonly trustProxy: Values['TRUST_PROXY']
  readonly logLevel: Values['LOG_LEVEL']
  /** Whether everyone may see the outcomes of all requests. */
  readonly isFailureRatePublic: boolean
  readonly supportForumUrl: string
  /** Unknown variables that resemble a known one. In production they are faults. */
  readonly misspelt: readonly Misspelt[]
  /** The demo's users, data and credentials. Absent in production. */
  readonly demo: DemoConfig | undefined
}

/** How to verify JWTs. Without secret and URL, none are accepted. */
export interface JwtConfig {
  /** The secret for HS256. Never show it. */
  readonly secret: string | undefined
  /** The URL of the public keys for asymmetric signatures. */
  readonly jwksUrl: string | undefined
  /** The required `iss` and `aud`; absent: any. */
  readonly issuer: string | undefined
  readonly audience: string | undefined
}

/** Credentials of the demo. Absent ones are made once and kept. */
export interface DemoConfig {
  readonly userToken: string | undefined
  readonly adminToken: string | undefined
  readonly botToken: string | undefined
  readonly chartApiKey: string | undefined
}

/**
 * Reads the configuration. An empty variable counts as not set.
 *
 * @throws {ConfigError} naming every fault
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = []
  const entries = Object.entries(VARIABLES).map(([name, { schema, default: text }]) => {
    const result = schema.safeParse(env[name] || text)
    if (!result.success) faults.push(...result.error.issues.map(({ message }) => `${name}: ${message}`))
    return [name, result.data] as const
  })
  const values = Object.fromEntries(entries) as Values
  const unread = misspelt(env)
  faults.push(...crossFaults(values), ...(values.NODE_ENV === 'production' ? unread.map(misspeltText) : []))
  if (faults.length > 0) throw new ConfigError(faults)
  return {
    port: values.PORT,
    syncPort: values.SYNC_PORT,
    chartsPort: values.CHARTS_PORT,
    metricsPort: values.METRICS_PORT,
    host: values.HOST,
    publicBaseUrl: values.PUBLIC_BASE_URL,
    publicSyncUrl: values.PUBLIC_SYNC_URL,
    publicChartsUrl: values.PUBLIC_CHARTS_URL,
    dataDir: values.DATA_DIR,
    isDataDirShared: values.DATA_DIR_SHARED,
    databaseUrl: values.DATABASE_URL,
    redisUrl: values.REDIS_URL,
    redisDeadlineMs: values.REDIS_DEADLINE_MS,
    quotaStore: values.QUOTA_STORE ?? (values.REDIS_URL === undefined ? 'embedded' : 'redis'),
    failurePolicy: failurePolicyOf(values.QUOTA_FAILURE_POLICY, values.EXPECTED_PROCESSES),
    limits: {
      monthly: values.QUOTA_MONTHLY_LIMIT,
      minutely: values.QUOTA_MINUTE_LIMIT,
      minuteBurst: values.QUOTA_MINUTE_BURST,
      concurrentImports: values.QUOTA_MAX_CONCURRENT_IMPORTS,
    },
    failures: { limit: values.FAILURE_LIMIT, windowMs: values.FAILURE_WINDOW_SECONDS * 1_000 },
    connections: { all: values.MAX_CONNECTIONS, ofAddress: connectionsOfAddress(values) },
    jwt: {
      secret: values.JWT_SECRET,
      jwksUrl: values.JWKS_URL,
      issuer: values.JWT_ISSUER,
      audience: values.JWT_AUDIENCE,
    },
    sources: {
      lxnsBaseUrl: values.LXNS_BASE_URL,
      fishBaseUrl: values.FISH_BASE_URL,
      timeoutMs: values.SOURCE_TIMEOUT_MS,
    },
    corsOrigins: values.CORS_ORIGINS,
    trustProxy: values.TRUST_PROXY,
    logLevel: values.LOG_LEVEL,
    isFailureRatePublic: values.FAILURE_RATE_PUBLIC,
    supportForumUrl: values.SUPPORT_FORUM_URL,
    misspelt: unread,
    demo: values.NODE_ENV === 'production' ? undefined : demoOf(values),
  }
}

/** Behind a proxy, all connections have the proxy's address. */
function connectionsOfAddress({ MAX_CONNECTIONS_PER_ADDRESS, TRUST_PROXY }: Values): number {
  return MAX_CONNECTIONS_PER_ADDRESS ?? (TRUST_PROXY === false ? 200 : 0)
}

function demoOf(values: Values): DemoConfig {
  const { DEMO_USER_TOKEN, DEMO_ADMIN_TOKEN, BOT_TOKEN, CHART_API_KEY } = values
  return {
    userToken: DEMO_USER_TOKEN,
    adminToken: DEMO_ADMIN_TOKEN,
    botToken: BOT_TOKEN,
    chartApiKey: CHART_API_KEY,
  }
}

/** The log message for such a variable, without its value, which may be a secret. */
export function misspeltText({ name, meant }: Misspelt): string {
  return `${name}: is no variable of the gateway; ${meant} was probably meant`
}

function crossFaults(values: Partial<Values>): string[] {
  const { NODE_ENV, JWT_SECRET, JWKS_URL } = values
  const faults = [...storeFaults(values), ...portFaults(values)]
  if (JWT_SECRET !== undefined && JWKS_URL !== undefined) {
    faults.push('JWKS_URL: signatures are checked by JWT_SECRET or by JWKS_URL; leave one of them out')
  }
  if (NODE_ENV === 'production') {
    if (JWT_SECRET === undefined && JWKS_URL === undefined) {
      faults.push('JWT_SECRET: needed with NODE_ENV=production, unless JWKS_URL is given')
    }
    return [...faults, ...demoFaults(values)]
  }
  const { DEMO_USER_TOKEN, DEMO_ADMIN_TOKEN } = values
  if (DEMO_USER_TOKEN === undefined || DEMO_USER_TOKEN !== DEMO_ADMIN_TOKEN) return faults
  return [...faults, 'DEMO_ADMIN_TOKEN: must differ from DEMO_USER_TOKEN']
}

const PORTS = ['PORT', 'SYNC_PORT', 'CHARTS_PORT', 'METRICS_PORT'] as const

function portFaults(values: Partial<Values>): string[] {
  return PORTS.flatMap((name, index) => {
    const port = values[name]
    const other = port ? PORTS.slice(0, index).find((earlier) => values[earlier] === port) : undefined
    return other === undefined ? [] : [`${name}: ${port} is ${other} too; give each a port of its own`]
  })
}

function storeFaults({ QUOTA_STORE, DATABASE_URL, REDIS_URL }: Partial<Values>): string[] {
  if (QUOTA_STORE === 'redis' && REDIS_URL === undefined) return ['QUOTA_STORE: counters in Redis need REDIS_URL']
  if (QUOTA_STORE === 'postgres' && DATABASE_URL === undefined) {
    return ['QUOTA_STORE: counters in PostgreSQL need DATABASE_URL']
  }
  if (QUOTA_STORE === undefined || QUOTA_STORE === 'redis' || REDIS_URL === undefined) return []
  return [`REDIS_URL: nothing is counted there with QUOTA_STORE=${QUOTA_STORE}; leave one of them out`]
}

function demoFaults({ DEMO_USER_TOKEN, DEMO_ADMIN_TOKEN, BOT_TOKEN, CHART_API_KEY }: Partial<Values>): string[] {
  const given = Object.entries({ DEMO_USER_TOKEN, DEMO_ADMIN_TOKEN, BOT_TOKEN, CHART_API_KEY })
    .filter(([, token]) => token !== undefined)
    .map(([name]) => name)
  return given.map((name) => `${name}: there is no demo with NODE_ENV=production; leave it out`)
}

/** An unknown environment variable that resembles one of the gateway's. */
interface Misspelt {
  readonly name: string
  readonly meant: string
}

const NAMES = Object.keys(VARIABLES)

/** @param env the environment with the configuration */
function misspelt(env: Readonly<Record<string, string | undefined>>): Misspelt[] {
  const strangers = Object.keys(env).filter((name) => !Object.hasOwn(VARIABLES, name))
  // If the known variable is also set, the similar one is meant for something else.
  const unset = NAMES.filter((name) => !env[name])
  return strangers.flatMap((name) => {
    const meant = env[name] ? nearest(name, unset) : undefined
    return meant === undefined ? [] : [{ name, meant }]
  })
}
