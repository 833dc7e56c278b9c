import { type Clock, createQuota, QUOTA_HEADER_NAMES, type Quota } from '@scoregw/quota'
import { quotaErrorHandler } from '@scoregw/quota-express'
import cors from 'cors'
import express, { type Express } from 'express'
import { ChartRepository } from './charts/chart-repository.ts'
import { SAMPLE_CHARTS } from './charts/sample-charts.ts'
import type { Config } from './config/config.ts'
import { openDatabase } from './db/connect.ts'
import type { Db } from './db/schema.ts'
import { checksOf, type ReadinessCheck } from './health/readiness.ts'
import { healthRoutes } from './health/routes.ts'
import { authenticated } from './http/auth.ts'
import { refusedWhenClosing } from './http/closing.ts'
import { errorHandler } from './http/error-handler.ts'
import { mount } from './http/mount.ts'
import { requestId } from './http/request-id.ts'
import { requestLog } from './http/request-log.ts'
import { securityHeaders } from './http/security-headers.ts'
import type { Logger } from './log/logger.ts'
import { AdminQuota } from './quota/admin-quota.ts'
import { adminQuotaRoutes } from './quota/admin-routes.ts'
import type { Chore, QuotaBackend } from './quota/backend.ts'
import { embeddedBackend } from './quota/embedded-backend.ts'
import { createMeter } from './quota/meter.ts'
import { gatewayPolicy, type OperationName } from './quota/policy.ts'
import { redisBackend } from './quota/redis-backend.ts'
import { statusRoutes } from './quota/status-routes.ts'
import { scoreRoutes } from './scores/routes.ts'
import { ScoreRepository } from './scores/score-repository.ts'
import { ScoreService } from './scores/score-service.ts'
import { UserRepository } from './users/user-repository.ts'

export interface AppOptions {
  readonly config: Config
  readonly clock: Clock
  readonly logger: Logger
}

/** The gateway without a server and without timers: whoever starts it brings both, and does the chores. */
export interface App {
  readonly handler: Express
  readonly quota: Quota<OperationName>
  readonly users: UserRepository
  readonly scores: ScoreService
  /** Where the counters are, for people. */
  readonly counters: string
  readonly chores: readonly Chore[]
  /** From now on requests are turned away with 503. */
  refuse(): void
  /** Saves the counters and leaves nothing open. */
  close(): Promise<void>
}

/**
 * Puts the gateway together.
 * @throws {ConfigError} when what the configuration names must not be used
 */
export async function createApp(options: AppOptions): Promise<App> {
  const db = await openDatabase(options.config.dataDir)
  try {
    return await appOn(db, options)
  } catch (error) {
    await db.destroy()
    throw error
  }
}

async function appOn(db: Db, { config, clock, logger }: AppOptions): Promise<App> {
  const users = new UserRepository(db, clock)
  const charts = new ChartRepository(db)
  await charts.addMissing(SAMPLE_CHARTS)
  const scores = new ScoreService(new ScoreRepository(db, clock), charts, clock)

  const backend = await backendOf(db, config, clock, logger)
  const quota = await quotaOf(backend, config, clock)

  let isClosing = false
  const checks = checksOf(db, backend)
  const handler = createHandler({ config, logger, checks, users, scores, quota, isClosing: () => isClosing })
  return {
    handler,
    quota,
    users,
    scores,
    counters: backend.name,
    chores: backend.chores,
    refuse() {
      isClosing = true
    },
    async close() {
      await backend.finish()
      await quota.close()
      await db.destroy()
    },
  }
}

function backendOf(db: Db, { redisUrl: url }: Config, clock: Clock, logger: Logger): Promise<QuotaBackend> {
  return url === undefined ? embeddedBackend(db, clock) : redisBackend({ db, clock, url, logger })
}

async function quotaOf(backend: QuotaBackend, config: Config, clock: Clock): Promise<Quota<OperationName>> {
  const { store, settings: settingsStore } = backend
  const { failurePolicy } = config
  const quota = createQuota({ policy: gatewayPolicy, store, settingsStore, failurePolicy, clock })
  try {
    await backend.begin()
    await quota.ready()
    return quota
  } catch (error) {
    await quota.close()
    throw error
  }
}

interface HandlerParts {
  readonly config: Config
  readonly logger: Logger
  readonly checks: readonly ReadinessCheck[]
  readonly users: UserRepository
  readonly scores: ScoreService
  readonly quota: Quota<OperationName>
  isClosing(): boolean
}

function createHandler({ config, logger, checks, users, scores, quota, isClosing }: HandlerParts): Express {
  const routes = [
    ...healthRoutes(checks),
    ...scoreRoutes(scores),
    ...statusRoutes(quota),
    ...adminQuotaRoutes(new AdminQuota(quota, users), quota),
  ]
  const publicPaths = new Set(routes.filter(({ access }) => access === 'public').map(({ path }) => path))
  const exposedHeaders = [...QUOTA_HEADER_NAMES, 'ETag', 'X-Request-Id']

  const app = express()
  app.set('trust proxy', config.trustProxy).set('etag', false).set('query parser', 'simple').disable('x-powered-by')
  app.use(requestId())
  app.use(requestLog(logger))
  app.use(securityHeaders(config))
  if (config.corsOrigins.length > 0) app.use(cors({ origin: [...config.corsOrigins], exposedHeaders, maxAge: 600 }))
  app.use(refusedWhenClosing(isClosing))
  app.use(authenticated((credential) => users.byToken(credential), publicPaths))
  app.use(mount(routes, createMeter({ quota, supportForumUrl: config.supportForumUrl, logger })))
  app.use(quotaErrorHandler())
  app.use(errorHandler(logger))
  return app
}
