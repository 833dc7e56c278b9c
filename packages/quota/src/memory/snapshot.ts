import * as z from 'zod'
import { faultyDocument } from '../errors/quota-error.ts'
import { toFaults } from '../policy/schema.ts'
import type { IdRecord } from './id-records.ts'

/** Most rows and records of one part. */
export const SNAPSHOT_PART_ROWS = 1_000

/** A part of a saved memory store: plain JSON. */
export interface SnapshotPart {
  /** Tells the windows, categories and layers it belongs to. */
  readonly schema: string
  /** Rows as `[table, key, cells]`. */
  readonly rows: readonly (readonly [table: number, key: string, cells: readonly number[]])[]
  /** Records of server-side ids as `[key, record]`. */
  readonly ids: readonly (readonly [key: string, record: IdRecord])[]
}

const cell = z.int().min(-1)

const schema = z.strictObject({
  schema: z.string(),
  rows: z.array(z.tuple([z.int().min(0), z.string(), z.array(cell)])),
  ids: z.array(
    z.tuple([
      z.string(),
      z.strictObject({
        state: z.enum(['reserved', 'committed', 'cancelled']),
        nonce: z.string(),
        fingerprint: z.string(),
        states: z.array(cell),
        expiresAt: z.int(),
      }),
    ]),
  ),
})

/** @throws {QuotaError} `invalid_options` for anything that is not a part of a snapshot */
export function parseSnapshotPart(part: unknown): SnapshotPart {
  const result = schema.safeParse(part)
  if (result.success) return result.data
  throw faultyDocument('invalid_options', 'snapshot', toFaults(result.error))
}
