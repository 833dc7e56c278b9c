import type { LimitStatus, Policy, Quota, Subject } from '@scoregw/quota'
import { type RowTable, rowTables } from '@scoregw/quota-redis'
import { type Unit, unitOf } from '../amounts.ts'
import type { RedisConnection } from '../redis/connect.ts'
import { scanKeys } from '../redis/scan.ts'
import { ownLayers } from '../simulate/replay.ts'

/** A limit of one subject, or of a shared layer. */
export interface SeenLimit extends Pick<LimitStatus, 'name' | 'used' | 'resetAt' | 'kind'> {
  /** What the subject's key identifies, or the name of the layer that all subjects share. */
  readonly layer: string
  /** `''` if all subjects share it. */
  readonly subject: string
  readonly unit: Unit
  readonly limit: number
  /** The used share of the limit, from 0. */
  readonly share: number
}

/** The use of limits at one instant. */
export interface Usage {
  /** By the store's clock, epoch milliseconds; `null` without a row. */
  readonly at: number | null
  /** How many rows were checked. */
  readonly rows: number
  /** Whether there are more rows than were checked. */
  readonly isSample: boolean
  /** How many of the rows are not listed: see {@link isHashed}. */
  readonly unlisted: number
  /** Limits that all subjects share. */
  readonly shared: readonly SeenLimit[]
  /** The limits of single subjects with the highest use. */
  readonly hottest: readonly SeenLimit[]
}

/** How many statuses are read together. */
const AT_ONCE = 250
/** A subject key if only shared layers are read. No subject has this key. */
const NO_SUBJECT = '\u0000quota-cli'

export interface UsageOptions {
  readonly policy: Policy
  readonly quota: Quota
  readonly connection: RedisConnection
  readonly prefix: string
  /** The most rows to check. */
  readonly sample: number
  /** How many limits to list. */
  readonly top: number
  readonly signal: AbortSignal
}

/** Reads a policy's rows, and changes nothing. */
export async function readUsage(options: UsageOptions): Promise<Usage> {
  const { policy, quota, connection, prefix, sample, top, signal } = options
  const tables = rowTables(prefix, policy).filter(({ shared }) => !shared)
  const owners = new Map<string, Set<string>>()
  let rows = 0
  let unlisted = 0
  for (const table of tables) {
    const keys = await scanKeys(connection.servers(), table.pattern, sample - rows, signal)
    rows += keys.size
    unlisted += addOwners(owners, table, keys)
  }
  const limits: SeenLimit[] = []
  let at: number | null = null
  let shared: SeenLimit[] = []
  const wanted = [...owners].flatMap(([layer, names]) => [...names].map((subject) => [layer, subject] as const))
  // Shared layers are the same for every subject.
  const all = wanted.length > 0 ? wanted : [[ownLayers(policy)[0] ?? '', NO_SUBJECT] as const]
  for (let from = 0; from < all.length && !signal.aborted; from += AT_ONCE) {
    const statuses = await Promise.all(
      all.slice(from, from + AT_ONCE).map(async ([layer, key]) => ({
        layer,
        key,
        status: await quota.status(subjectWith(policy, layer, key)),
      })),
    )
    for (const { layer, key, status } of statuses) {
      at = status.now
      const all = Object.values(status.limits).flatMap((each) => each ?? [])
      limits.push(...all.filter(({ by }) => by === layer).flatMap((each) => seen(policy, each, key)))
      shared = all.filter((each) => each.shared !== undefined).flatMap((each) => seen(policy, each, ''))
    }
  }
  return {
    at,
    rows,
    isSample: rows >= sample,
    unlisted,
    shared: byShare(shared),
    hottest: byShare(limits.filter(({ used }) => used > 0)).slice(0, top),
  }
}

/** Adds the subjects of rows. @returns how many are left out */
function addOwners(owners: Map<string, Set<string>>, table: RowTable, keys: Iterable<string>): number {
  const subjects = [...keys].flatMap((key) => table.subjectOf(key) ?? [])
  const listed = subjects.filter((subject) => subject !== '' && !isHashed(subject))
  owners.set(table.layer, new Set([...(owners.get(table.layer) ?? []), ...listed]))
  return subjects.filter(isHashed).length
}

/** Whether a stored key is the hash of one above 200 bytes. Nobody can ask for its counters without the key itself. */
export function isHashed(subject: string): boolean {
  return subject.startsWith('sha256:')
}

export function subjectWith(policy: Policy, layer: string, key: string): Subject {
  const own = ownLayers(policy)
  return own.length < 2 ? key : Object.fromEntries(own.map((each) => [each, each === layer ? key : null]))
}

function seen(policy: Policy, status: LimitStatus, subject: string): SeenLimit[] {
  const { name, by, shared = by, kind, unit, used, limit: each, burst: limit = each, resetAt } = status
  if (limit === 'unlimited' || shared === undefined) return []
  const share = limit === 0 ? 1 : used / limit
  return [{ layer: shared, subject, name, kind, unit: unitOf(policy, unit), used, limit, share, resetAt }]
}

function byShare(limits: readonly SeenLimit[]): SeenLimit[] {
  return limits.toSorted((a, b) => b.share - a.share || b.used - a.used)
}
