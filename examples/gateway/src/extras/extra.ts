import type { Clock, Quota } from '@scoregw/quota'
import type { RequestHandler } from 'express'
import type * as z from 'zod'
import type { AdaptiveMode } from '../adaptive/adaptive-mode.ts'
import type { Addresses } from '../addresses.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { ChartRepository } from '../charts/chart-repository.ts'
import type { Chore } from '../chores.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../db/schema.ts'
import type { Route } from '../http/route.ts'
import type { Logger } from '../log/logger.ts'
import type { OperationName } from '../quota/policy.ts'
import type { UpsertExtension } from '../scores/bodies.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import type { UsageRecords } from '../usage/usage-records.ts'
import type { UserRepository } from '../users/user-repository.ts'

/** The parts of the gateway that an extra may use. */
export interface ExtraDeps {
  readonly config: Pick<Config, 'supportForumUrl' | 'webhookAllowPrivate'>
  readonly db: Db
  readonly clock: Clock
  readonly logger: Logger
  readonly quota: Quota<OperationName>
  readonly users: UserRepository
  readonly audit: AuditLog
  readonly charts: ChartRepository
  readonly usage: { readonly records: UsageRecords; readonly recorder: UsageRecorder }
  readonly adaptive: AdaptiveMode
}

/** A member that an extra adds to the live overview. */
export interface OverviewMember {
  readonly name: string
  readonly schema: z.ZodType
  read(): Promise<unknown>
}

/** A running extra, and its additions to the gateway. */
export interface RunningExtra {
  readonly routes?: readonly Route[]
  /** Routes for the chart preview. */
  readonly chartRoutes?: readonly Route[]
  readonly chores?: readonly Chore[]
  /** Middleware that runs before everything else. */
  readonly observe?: RequestHandler
  readonly upsert?: UpsertExtension
  /**
   * Makes the public pages of a service. Requests for other paths pass through.
   *
   * @param addresses returns where clients find the services; call it for each request
   */
  pages?(service: keyof Addresses, addresses: () => Addresses): RequestHandler
  readonly overview?: OverviewMember
  /** Called when the gateway starts to stop and rejects new requests. */
  refuse?(): void
  /** Called after the last request, before counters are saved. */
  close?(): Promise<void>
}

/**
 * A feature beyond the specification. It has its own folder, which only `index.ts` imports, so you can delete both. Its
 * tables always exist.
 */
export interface Extra {
  /** @param before the extras that start earlier */
  begin(deps: ExtraDeps, before: readonly RunningExtra[]): RunningExtra | Promise<RunningExtra>
}
