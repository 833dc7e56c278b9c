import type { RequestListener } from 'node:http'
import { adaptiveRoutes } from './adaptive/adaptive.ts'
import { auditRoutes } from './audit/audit.ts'
import { ABOUT_CHARTS, chartErrorBody, chartRoutes } from './charts/preview-routes.ts'
import { consolePages } from './console/console-pages.ts'
import { jwtVerifier, userIdentifier } from './credentials/identify-user.ts'
import { tokenRoutes } from './credentials/routes.ts'
import { frontPage } from './front-pages/front-page.ts'
import { healthRoutes, probeRoutes } from './health/health.ts'
import { holdersOnly, usersOnly } from './http/auth.ts'
import type { Route } from './http/route.ts'
import { createService } from './http/service.ts'
import { metricsRoutes } from './metrics/metrics.ts'
import { ABOUT_GATEWAY, withOpenApi } from './openapi/document.ts'
import { overviewRoutes } from './overview/routes.ts'
import type { Parts } from './parts.ts'
import { accountRoutes } from './players/account.ts'
import { gateRoutes } from './players/gates.ts'
import { itemRoutes } from './players/items.ts'
import { ticketRoutes } from './players/tickets.ts'
import { adminQuotaRoutes, forgetQuota } from './quota/admin-routes.ts'
import { holdRoutes } from './quota/hold-routes.ts'
import { meteredRoutes } from './quota/metered.ts'
import { shownInAudit } from './quota/settings.ts'
import { statusRoutes, tightestOf } from './quota/status-routes.ts'
import { referencePages } from './reference/reference-pages.ts'
import { scoreRoutes } from './scores/routes.ts'
import { sourceRoutes } from './sources/routes.ts'
import { SYNC_BODY_LIMITS, syncRoutes } from './sync/routes.ts'
import { ABOUT_SYNC, syncErrorBody } from './sync/sync-error.ts'
import { uploadRoutes, upsertInParts } from './uploads/routes.ts'
import { errorRoutes } from './usage/error-counts.ts'
import { failureRateRoutes } from './usage/failure-rate.ts'
import { ownUsageRoutes } from './usage/own-usage-routes.ts'
import { refusalRoutes } from './usage/refusals.ts'
import { observeMetered, observeOutcomes } from './usage/usage-recorder.ts'
import { AdminUsers } from './users/admin-users.ts'
import { adminUserRoutes } from './users/routes.ts'

/** The gateway, for players and administrators. */
export function gatewayService(parts: Parts): RequestListener {
  const { config, clock, logger, adaptive, metrics, usage, users, tokens, quota, overview, errors, counters } = parts
  const addresses = () => parts.status.addresses
  const identify = userIdentifier(users, tokens, jwtVerifier(config, clock))
  return createService({
    ...common(parts),
    routes: withOpenApi(ABOUT_GATEWAY, () => addresses().gateway, [
      ...healthRoutes(parts.checks),
      ...playerRoutes(parts),
      ...statusRoutes(quota),
      ...adminQuotaRoutes(parts),
      ...administrationRoutes(parts),
      ...adaptiveRoutes({ ...adaptive, quota, clock }),
      ...refusalRoutes({ ...usage, clock }),
      ...failureRateRoutes({ ...adaptive, clock, isPublic: config.FAILURE_RATE_PUBLIC }),
      ...errorRoutes(errors, clock),
      ...overviewRoutes(overview, parts.live),
      ...metricsRoutes(metrics.registry),
    ]),
    observe: [observeOutcomes(adaptive.recorder), observeOutcomes(overview), errors.observe, metrics.observe],
    pages: [frontPage('gateway', addresses), referencePages(addresses), consolePages()],
    corsOrigins: () => config.CORS_ORIGINS,
    publicBaseUrl: config.PUBLIC_BASE_URL,
    authentication: usersOnly(identify),
    metered: meteredRoutes({
      ...{ quota, logger, inTransaction: counters.inTransaction, supportForumUrl: config.SUPPORT_FORUM_URL },
      observe: observeMetered(usage.recorder, clock),
    }),
  })
}

/** What players do: scores, uploads, their resources, imports, and the outcomes of their own requests. */
function playerRoutes(parts: Parts): Route[] {
  const { config, db, clock, scores, uploads, sources, usage } = parts
  return [
    ...scoreRoutes(scores, upsertInParts(uploads, config.SUPPORT_FORUM_URL)),
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
export function syncService(parts: Parts): RequestListener {
  const { config, tokens, status } = parts
  return createService({
    ...common(parts),
    routes: withOpenApi(ABOUT_SYNC, () => status.addresses.sync, [...probeRoutes(parts.checks), ...syncRoutes(parts)]),
    errorBody: syncErrorBody,
    bodyLimits: SYNC_BODY_LIMITS,
    // Its bodies are the large ones.
    maxInFlight: 8,
    corsOrigins: () => withReferencePage(parts),
    pages: [frontPage('sync', () => status.addresses)],
    publicBaseUrl: config.PUBLIC_SYNC_URL,
    authentication: holdersOnly('Bot-Token', (token) => tokens.holder('sync', token)),
  })
}

/** The chart preview, to browse the table of charts. */
export function chartsService(parts: Parts): RequestListener {
  const { config, tokens, charts, status } = parts
  return createService({
    ...common(parts),
    routes: withOpenApi(ABOUT_CHARTS, () => status.addresses.charts, [
      ...probeRoutes(parts.checks),
      ...chartRoutes(charts),
    ]),
    errorBody: chartErrorBody,
    corsOrigins: () => withReferencePage(parts),
    pages: [frontPage('charts', () => status.addresses)],
    publicBaseUrl: config.PUBLIC_CHARTS_URL,
    authentication: holdersOnly('X-API-Key', (key) => tokens.holder('charts', key)),
  })
}

function common({ logger, config, status }: Parts) {
  return { logger, trustProxy: config.TRUST_PROXY, isClosing: () => status.isClosing }
}

/** Also allows the gateway's reference page, which calls the other two services. */
function withReferencePage({ config, status }: Parts): readonly string[] {
  return [...config.CORS_ORIGINS, new URL(status.addresses.gateway).origin]
}
