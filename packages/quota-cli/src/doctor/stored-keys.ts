import type { Policy } from '@scoregw/quota'
import { type RowTable, rowTables } from '@scoregw/quota-redis'
import type { Redis } from 'ioredis'
import { literally, scanKeys } from '../redis/scan.ts'
import { counted, several } from '../text.ts'
import { ok, type ServerFinding, warning } from './finding.ts'

/** The most keys that are checked. */
const MOST = 200_000

/** A subject of a layer. */
export interface Owner {
  readonly layer: string
  readonly key: string
}

/** The keys under a prefix. */
export interface StoredKeys {
  readonly findings: readonly ServerFinding[]
  /** The subjects with settings of their own, then those with counters. Each once. */
  readonly owners: readonly Owner[]
}

/** Counts the keys under a prefix, and those of them that belong to a policy. */
export async function storedKeys(
  servers: readonly Redis[],
  prefix: string,
  policy: Policy | undefined,
  signal: AbortSignal,
): Promise<StoredKeys> {
  const keys = await scanKeys(servers, `${literally(`{${prefix}`)}*`, MOST, signal)
  if (keys.size === 0) {
    const none = warning('keys', `none under {${prefix}}`, 'set --prefix, unless nothing has been counted yet')
    return { findings: [none], owners: [] }
  }
  const found = `${several(keys.size, 'key')}${keys.size < MOST ? '' : ' or more'} under {${prefix}}`
  const settings = keys.has(`{${prefix}}:settings`) ? ', with settings' : ''
  const all = ok('keys', found + settings)
  if (policy === undefined) return { findings: [all], owners: [] }
  const rows = rowsOf(keys, rowTables(prefix, policy))
  const own = [...keys].flatMap((key) => settingsOwner(prefix, key) ?? [])
  const names = policy.layers.map(({ name }) => name)
  const owners = [...own.filter(({ layer }) => names.includes(layer)), ...rows.owners]
  return {
    findings: [all, ...rows.findings],
    owners: [...new Map(owners.map((owner) => [JSON.stringify([owner.layer, owner.key]), owner])).values()],
  }
}

/** Keys that have a layer and a subject. Those of settings, the factor and outcomes have other words in their place. */
const IS_ROW = /^\{[^}]*\}:(?!(?:settings|subject|factor|outcomes):)[^:!]+[:!]/

function rowsOf(keys: ReadonlySet<string>, tables: readonly RowTable[]): StoredKeys {
  const counts = new Map(tables.map(({ layer }) => [layer, 0]))
  const owners: Owner[] = []
  let unknown = 0
  for (const key of keys) {
    if (!IS_ROW.test(key)) continue
    const table = tables.find((each) => each.subjectOf(key) !== undefined)
    if (table === undefined) {
      unknown++
      continue
    }
    const { layer, shared } = table
    counts.set(layer, (counts.get(layer) ?? 0) + 1)
    if (!shared) owners.push({ layer, key: table.subjectOf(key) ?? '' })
  }
  const rows = [...counts].map(([layer, count]) => `${layer} ${counted(count)}`)
  const known = ok('rows', `of the policy: ${rows.join(', ')}`)
  if (unknown === 0) return { findings: [known], owners }
  const message = `${several(unknown, 'row')} that the policy does not name`
  const mend = 'another policy shares the prefix, or these were renamed: they will expire'
  return { findings: [known, warning('rows', message, mend)], owners }
}

/** The subject of a key with a subject's settings. */
function settingsOwner(prefix: string, key: string): Owner | undefined {
  const start = `{${prefix}}:subject:`
  if (!key.startsWith(start)) return undefined
  const [layer = '', subject = ''] = key.slice(start.length).split(':').map(decoded)
  return { layer, key: subject }
}

/** Text that UTF-8 can't express is hexadecimal after a `$`. */
function decoded(text: string): string {
  return text.startsWith('$') ? Buffer.from(text.slice(1), 'hex').toString('utf16le') : decodeURIComponent(text)
}
