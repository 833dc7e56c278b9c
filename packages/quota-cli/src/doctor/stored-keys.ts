import type { Policy } from '@scoregw/quota'
import { rowTables } from '@scoregw/quota-redis'
import type { Redis } from 'ioredis'
import { literally, scanKeys } from '../redis/scan.ts'
import { counted, several } from '../text.ts'
import { ok, type ServerFinding, warning } from './finding.ts'

/** The most keys that are checked. */
const MOST = 200_000

/** Counts the keys under a prefix, and those of them that belong to a policy. */
export async function storedKeys(
  servers: readonly Redis[],
  prefix: string,
  policy: Policy | undefined,
  signal: AbortSignal,
): Promise<ServerFinding[]> {
  const keys = await scanKeys(servers, `${literally(`{${prefix}`)}*`, MOST, signal)
  const isAll = keys.size < MOST
  if (keys.size === 0) {
    return [warning('keys', `none under {${prefix}}`, 'set --prefix, unless nothing has been counted yet')]
  }
  const found = `${several(keys.size, 'key')}${isAll ? '' : ' or more'} under {${prefix}}`
  const settings = keys.has(`{${prefix}}:settings`) ? ', with settings' : ''
  const all = ok('keys', found + settings)
  return policy === undefined ? [all] : [all, ...ofPolicy(keys, prefix, policy)]
}

/** Keys that have a layer and a subject. Those of settings, the factor and outcomes have other words in their place. */
const IS_ROW = /^\{[^}]*\}:(?!(?:settings|subject|factor|outcomes):)[^:!]+[:!]/

function ofPolicy(keys: ReadonlySet<string>, prefix: string, policy: Policy): ServerFinding[] {
  const tables = rowTables(prefix, policy)
  const counts = new Map(tables.map((table) => [table, 0]))
  let unknown = 0
  for (const key of keys) {
    if (!IS_ROW.test(key)) continue
    const table = tables.find((each) => each.subjectOf(key) !== undefined)
    if (table === undefined) unknown++
    else counts.set(table, (counts.get(table) ?? 0) + 1)
  }
  const rows = [...counts].map(([{ layer, category }, count]) => `${layer} ${category} ${counted(count)}`)
  const known = ok('rows', `of the policy: ${rows.join(', ')}`)
  if (unknown === 0) return [known]
  const message = `${several(unknown, 'row')} of layers or categories that the policy does not have`
  return [known, warning('rows', message, 'another policy shares the prefix, or these were renamed: they will expire')]
}
