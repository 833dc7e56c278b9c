import type { RequestListener } from 'node:http'
import type { Clock } from '@scoregw/quota'
import type { AdaptiveMode } from './adaptive/adaptive-mode.ts'
import { adaptiveRoutes } from './adaptive/adaptive-routes.ts'
import type { Addresses } from './addresses.ts'
import { type AuditLog, auditRoutes } from './audit/audit.ts'
import type { ChartRepository } from './charts/chart-repository.ts'
import { chartErrorBody, chartRoutes, chartRoutesWithDocument } from './charts/preview-routes.ts'
import type { Config } from './config/config.ts'
import { consolePages } from './console/console-pages.ts'
import { jwtVerifier, userIdentifier } from './credentials/identify-user.ts'
import { tokenRoutes } from './credentials/routes.ts'
import type { Tokens } from './credentials/tokens.ts'
import type { Db } from './db/schema.ts'
import { frontPage } from './front-pages/front-page.ts'
import type { ReadinessCheck } from './health/health.ts'
import { healthRoutes, probeRoutes } from './health/health.ts'
import { holdersOnly, usersOnly } from './http/auth.ts'
import type { Route } from './http/route.ts'
import { createService } from './http/service.ts'
import type { Idempotency } from './idempotency/idempotency.ts'
import type { Logger } from './log/logger.ts'
import type { GatewayMetrics } from './metrics/metrics.ts'
import { metricsRoutes } from './metrics/metrics.ts'
import { gatewayRoutesWithDocument } from './openapi/gateway-document.ts'
import type { LiveOverview } from './overview/live-overview.ts'
import type { Overview } from './overview/overview.ts'
import { overviewRoutes } from './overview/routes.ts'
import { accountRoutes } from './players/account.ts'
import { gateRoutes } from './players/gates.ts'
import { itemRoutes } from './players/items.ts'
import { ticketRoutes } from './players/tickets.ts'
import { adminQuotaRoutes, forgetQuota } from './quota/admin-routes.ts'
import { holdRoutes } from './quota/hold-routes.ts'
import { meteredRoutes } from './quota/metered.ts'
import type { GatewayQuota } from './quota/policy.ts'
import { shownInAudit } from './quota/settings.ts'
import { statusRoutes, tightestOf } from './quota/status-routes.ts'
import { referencePages } from './reference/reference-pages.ts'
import { scoreRoutes } from './scores/routes.ts'
import type { ScoreService } from './scores/score-service.ts'
import { sourceRoutes } from './sources/routes.ts'
import type { Sources } from './sources/sources.ts'
import { SYNC_BODY_LIMITS, syncRoutes } from './sync/routes.ts'
import { syncErrorBody, syncRoutesWithDocument } from './sync/sync-error.ts'
import type { SyncService } from './sync/sync-service.ts'
import { uploadRoutes, upsertInParts } from './uploads/routes.ts'
import type { UploadService } from './uploads/upload-service.ts'
import { type ErrorCounts, errorRoutes } from './usage/error-counts.ts'
import { failureRateRoutes } from './usage/failure-rate.ts'
import { ownUsageRoutes } from './usage/own-usage-routes.ts'
import { refusalRoutes } from './usage/refusals.ts'
import type { UsageRecorder } from './usage/usage-recorder.ts'
import { observeMetered, observeOutcomes } from './usage/usage-recorder.ts'
import type { UsageRecords } from './usage/usage-records.ts'
import { AdminUsers } from './users/admin-users.ts'
import { adminUserRoutes } from './users/routes.ts'
import type { UserRepository } from './users/user-repository.ts'

/** The dependencies of the services. */
export interface Parts {
  readonly config: Config
  readonly clock: Clock
  readonly logger: Logger
  readonly db: Db
  readonly adaptive: AdaptiveMode
  readonly metrics: GatewayMetrics
  readonly usage: { readonly records: UsageRecords; readonly recorder: UsageRecorder }
  readonly errors: ErrorCounts
  readonly overview: Overview
  readonly live: LiveOverview
  readonly uploads: UploadService
  readonly checks: readonly ReadinessCheck[]
  readonly users: UserRepository
  readonly audit: AuditLog
  readonly tokens: Tokens
  readonly charts: ChartRepository
  readonly scores: ScoreService
  readonly idempotency: Idempotency
  readonly sources: Sources
  readonly sync: SyncService
  readonly quota: GatewayQuota
  /** Whether requests can be charged in the transactions of their work. */
  readonly inTransaction: boolean
  isClosing(): boolean
  /** Call it each time, because the addresses may change until all services listen. */
  addresses(): Addresses
}

/** The gateway, for players and administrators. */
export function gatewayService(deps: Parts): RequestListener {
  const { config, clock, logger, adaptive, metrics, usage, users, tokens, quota, overview } = deps
  const identify = userIdentifier(users, tokens, jwtVerifier(config.jwt, clock))
  return createService({
    ...common(deps),
    routes: gatewayRoutesWithDocument(
      () => deps.addresses().gateway,
      [
        ...healthRoutes(deps.checks),
        ...playerRoutes(deps),
        ...statusRoutes(quota),
        ...adminQuotaRoutes(deps),
        ...administrationRoutes(deps),
        ...adaptiveRoutes({ ...adaptive, quota, clock }),
        ...refusalRoutes({ ...usage, clock }),
        ...failureRateRoutes({ ...adaptive, clock, isPublic: config.isFailureRatePublic }),
        ...errorRoutes(deps.errors, clock),
        ...overviewRoutes(overview, deps.live),
        ...metricsRoutes(metrics.registry),
      ],
    ),
    observe: [observeOutcomes(adaptive.recorder), observeOutcomes(overview), deps.errors.observe, metrics.observe],
    pages: [frontPage('gateway', deps.addresses), referencePages(deps.addresses), consolePages()],
    corsOrigins: () => config.corsOrigins,
    publicBaseUrl: config.publicBaseUrl,
    authentication: usersOnly(identify),
    metered: meteredRoutes({
      ...{ quota, logger, inTransaction: deps.inTransaction, supportForumUrl: config.supportForumUrl },
      observe: observeMetered(usage.recorder, clock),
    }),
  })
}

/** What players do: scores, uploads, their resources, imports, and the outcomes of their own requests. */
function playerRoutes(parts: Parts): Route[] {
  const { config, db, clock, scores, uploads, sources, usage } = parts
  return [
    ...scoreRoutes(scores, upsertInParts(uploads, config.supportForumUrl)),
    ...uploadRoutes(uploads),
    ...accountRoutes(db),
    ...ticketRoutes(parts),
    ...itemRoutes(db),
    ...gateRoutes(db),
    ...sourceRoutes(sources),
    ...ownUsageRoutes({ ...usage, clock }),
  ]
}

/** Routes for holds, users, credentials and the audit trail. */
function administrationRoutes(deps: Parts): Route[] {
  const { db, clock, audit, users, tokens, sync } = deps
  const onLinked = (userId: string, qq: number): Promise<void> => sync.adopt(userId, qq)
  return [
    ...holdRoutes(deps),
    ...adminUserRoutes({
      ...{ db, clock },
      admin: new AdminUsers({ db, clock, audit, onLinked, onDelete: (id, by) => forgetQuota(deps.quota, id, by) }),
      flush: () => deps.usage.recorder.flush(),
      tightestOf: (id) => tightestOf(deps.quota, id),
    }),
    ...tokenRoutes(tokens, users),
    ...auditRoutes(audit, shownInAudit),
  ]
}

/** Score sync, for bots that report players' scores. */
export function syncService(deps: Parts): RequestListener {
  const { config, checks, tokens } = deps
  return createService({
    ...common(deps),
    routes: syncRoutesWithDocument(() => deps.addresses().sync, [...probeRoutes(checks), ...syncRoutes(deps)]),
    errorBody: syncErrorBody,
    bodyLimits: SYNC_BODY_LIMITS,
    // Its bodies are the large ones.
    maxInFlight: 8,
    corsOrigins: () => withReferencePage(deps),
    pages: [frontPage('sync', deps.addresses)],
    publicBaseUrl: config.publicSyncUrl,
    authentication: holdersOnly('Bot-Token', (token) => tokens.holder('sync', token)),
  })
}

/** The chart preview, to browse the table of charts. */
export function chartsService(deps: Parts): RequestListener {
  const { config, checks, tokens, charts } = deps
  return createService({
    ...common(deps),
    routes: chartRoutesWithDocument(() => deps.addresses().charts, [...probeRoutes(checks), ...chartRoutes(charts)]),
    errorBody: chartErrorBody,
    corsOrigins: () => withReferencePage(deps),
    pages: [frontPage('charts', deps.addresses)],
    publicBaseUrl: config.publicChartsUrl,
    authentication: holdersOnly('X-API-Key', (key) => tokens.holder('charts', key)),
  })
}

function common({ logger, config: { trustProxy }, isClosing }: Parts): {
  readonly logger: Logger
  readonly trustProxy: Config['trustProxy']
  isClosing(): boolean
} {
  return { logger, trustProxy, isClosing }
}

/** Also allows the gateway's reference page, which calls the other two services. */
function withReferencePage({ config, addresses }: Parts): readonly string[] {
  return [...config.corsOrigins, new URL(addresses().gateway).origin]
}
