import type { Clock } from '@scoregw/quota'
import type { Db } from '../db/schema.ts'
import type { Logger } from '../log/logger.ts'
import type { ScoreService } from '../scores/score-service.ts'
import { divingFish } from './diving-fish.ts'
import { Forwarder } from './forwarder.ts'
import { lxns } from './lxns.ts'
import type { ScoreSource } from './score-source.ts'
import { ImportLeases, SourceImports } from './source-imports.ts'

export interface SourcesOptions {
  readonly db: Db
  readonly clock: Clock
  readonly logger: Logger
  readonly scores: ScoreService
  readonly lxnsBaseUrl: string
  readonly fishBaseUrl: string
  /** How long a source may take, in milliseconds. */
  readonly timeoutMs: number
  /** A number from 0 to below 1. */
  random(): number
}

/** The two sources at their configured addresses, and the imports from them. */
export interface Sources {
  readonly lxns: ScoreSource
  readonly fish: ScoreSource
  readonly imports: SourceImports
}

export function createSources(options: SourcesOptions): Sources {
  const { db, clock, logger, scores, lxnsBaseUrl, fishBaseUrl, timeoutMs, random } = options
  const leases = new ImportLeases({ db, clock, sourceTimeoutMs: timeoutMs })
  return {
    lxns: lxns(new Forwarder({ source: 'lx', baseUrl: lxnsBaseUrl, timeoutMs, random }), clock),
    fish: divingFish(new Forwarder({ source: 'fish', baseUrl: fishBaseUrl, timeoutMs, random }), clock),
    imports: new SourceImports({ leases, scores, clock, logger }),
  }
}
