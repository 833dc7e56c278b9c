import type { FailurePolicy } from '@scoregw/quota'
import type * as z from 'zod'
import { ConfigError } from './config-error.ts'
import { failurePolicyOf } from './failure-policy.ts'
import { VARIABLES } from './variables.ts'

type Values = { readonly [Name in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[Name]['schema']> }

/** The gateway's configuration, checked. */
export interface Config {
  readonly port: number
  readonly host: string
  /** The address clients use, without a slash at the end; absent: the address the server listens on. */
  readonly publicBaseUrl: string | undefined
  readonly dataDir: string
  /** The Redis that several processes share, with credentials: not to be shown; absent: counters in this process. */
  readonly redisUrl: string | undefined
  /** What becomes of requests, by category, while the counters cannot be asked. */
  readonly failurePolicy: Readonly<Record<string, FailurePolicy>>
  /** Origins whose pages may call the gateway. */
  readonly corsOrigins: readonly string[]
  readonly trustProxy: Values['TRUST_PROXY']
  readonly logLevel: Values['LOG_LEVEL']
  readonly supportForumUrl: string
  /** The demo's users, data and credentials; absent in production. */
  readonly demo: { readonly userToken: string | undefined; readonly adminToken: string | undefined } | undefined
}

/**
 * Reads the configuration. A variable that is empty counts as not set.
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
  faults.push(...crossFaults(values))
  if (faults.length > 0) throw new ConfigError(faults)
  return {
    port: values.PORT,
    host: values.HOST,
    publicBaseUrl: values.PUBLIC_BASE_URL,
    dataDir: values.DATA_DIR,
    redisUrl: values.REDIS_URL,
    failurePolicy: failurePolicyOf(values.QUOTA_FAILURE_POLICY, values.EXPECTED_PROCESSES),
    corsOrigins: values.CORS_ORIGINS,
    trustProxy: values.TRUST_PROXY,
    logLevel: values.LOG_LEVEL,
    supportForumUrl: values.SUPPORT_FORUM_URL,
    demo:
      values.NODE_ENV === 'production'
        ? undefined
        : { userToken: values.DEMO_USER_TOKEN, adminToken: values.DEMO_ADMIN_TOKEN },
  }
}

function crossFaults({ NODE_ENV, DEMO_USER_TOKEN, DEMO_ADMIN_TOKEN }: Partial<Values>): string[] {
  if (NODE_ENV === 'production') {
    const given = Object.entries({ DEMO_USER_TOKEN, DEMO_ADMIN_TOKEN }).filter(([, token]) => token !== undefined)
    return given.map(([name]) => `${name}: there is no demo with NODE_ENV=production; leave it out`)
  }
  if (DEMO_USER_TOKEN === undefined || DEMO_USER_TOKEN !== DEMO_ADMIN_TOKEN) return []
  return ['DEMO_ADMIN_TOKEN: must differ from DEMO_USER_TOKEN']
}
