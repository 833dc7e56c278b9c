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

/** One member of the live overview. */
export interface OverviewMember {
  readonly name: string
  readonly schema: z.ZodType
  read(): Promise<unknown>
}

/** An extra at work, and what it adds to the gateway. */
export interface RunningExtra {
  readonly routes?: readonly Route[]
  /** Routes of the chart preview. */
  readonly chartRoutes?: readonly Route[]
  readonly chores?: readonly Chore[]
  /** Middleware that sees every request first. */
  readonly observe?: RequestHandler
  readonly upsert?: UpsertExtension
  /**
   * Makes a service's pages, which are public. Requests for anything else go on.
   *
   * @param addresses where clients find the services; to be called each time
   */
  pages?(service: keyof Addresses, addresses: () => Addresses): RequestHandler
  readonly overview?: OverviewMember
  /** Called when the gateway begins to stop: requests are turned away from now on. */
  refuse?(): void
  /** Called when no request is left, before the counters are saved. */
  close?(): Promise<void>
}

/**
 * Something that goes beyond the specification. It lives in a folder of its own, which only `index.ts` imports: without
 * both, the rest works. Its tables are always there.
 */
export interface Extra {
  /** @param before the extras that come before it in the list */
  begin(deps: ExtraDeps, before: readonly RunningExtra[]): RunningExtra | Promise<RunningExtra>
}
