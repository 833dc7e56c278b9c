import type { Policy, Quota, Subject, WindowStatus } from '@scoregw/quota'
import { type RowTable, rowTables } from '@scoregw/quota-redis'
import type { RedisConnection } from '../redis/connect.ts'
import { scanKeys } from '../redis/scan.ts'
import { ownLayers } from '../simulate/replay.ts'

/** A limit of one subject, or of a shared layer. */
export interface SeenLimit extends Pick<WindowStatus, 'layer' | 'category' | 'window' | 'used' | 'resetAt' | 'kind'> {
  /** `''` if all subjects share it. */
  readonly subject: string
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
  /** Limits that all subjects share. */
  readonly shared: readonly SeenLimit[]
  /** The limits of single subjects with the highest use. */
  readonly hottest: readonly SeenLimit[]
}

/** How many statuses are read together. */
const AT_ONCE = 250
/** A subject key for layers that are not read. No subject has this key. */
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
  for (const table of tables) {
    const keys = await scanKeys(connection.servers(), table.pattern, sample - rows, signal)
    rows += keys.size
    addOwners(owners, table, keys)
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
      const windows = Object.values(status.windows).flat()
      limits.push(...windows.filter((each) => each.layer === layer).flatMap((each) => seen(each, key)))
      shared = windows.filter((each) => isShared(policy, each.layer)).flatMap((each) => seen(each, ''))
    }
  }
  return {
    at,
    rows,
    isSample: rows >= sample,
    shared: byShare(shared),
    hottest: byShare(limits.filter(({ used }) => used > 0)).slice(0, top),
  }
}

function addOwners(owners: Map<string, Set<string>>, table: RowTable, keys: Iterable<string>): void {
  const names = owners.get(table.layer) ?? new Set()
  owners.set(table.layer, names)
  for (const key of keys) {
    const subject = table.subjectOf(key)
    if (subject !== undefined && subject !== '') names.add(subject)
  }
}

function subjectWith(policy: Policy, layer: string, key: string): Subject {
  const own = ownLayers(policy)
  return own.length < 2 ? key : Object.fromEntries(own.map((each) => [each, each === layer ? key : NO_SUBJECT]))
}

function isShared({ layers }: Policy, layer: string): boolean {
  return layers.some(({ name, shared }) => name === layer && shared)
}

function seen(
  { layer, category, window, kind, used, limit: ofWindow, burst: limit = ofWindow, resetAt }: WindowStatus,
  subject: string,
): SeenLimit[] {
  if (limit === 'unlimited') return []
  return [{ subject, layer, category, window, kind, used, limit, resetAt, share: limit === 0 ? 1 : used / limit }]
}

function byShare(limits: readonly SeenLimit[]): SeenLimit[] {
  return limits.toSorted((a, b) => b.share - a.share || b.used - a.used)
}
