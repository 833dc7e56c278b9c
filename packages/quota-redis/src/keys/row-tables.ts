import type { Policy } from '@scoregw/quota'
import { storeSchema } from '@scoregw/quota/internal'
import { subjectOfRow, tableOf } from './keys.ts'

/** Which keys are the rows of one layer. */
export interface RowTable {
  readonly layer: string
  /** Whether all subjects share one row. */
  readonly shared: boolean
  /** A `SCAN` pattern for the keys. */
  readonly pattern: string
  /** The subject of a row's key, `''` if shared; `undefined` if the key isn't a row of this table. */
  subjectOf(key: string): string | undefined
}

/**
 * The tables of a policy's rows under a prefix, for tools that inspect stored rows. Only the store can read the
 * contents of a row; call `quota.status()` for them.
 */
export function rowTables(prefix: string, policy: Policy): RowTable[] {
  const start = `{${prefix}}:`
  return storeSchema(policy).layers.map(({ name, shared }) => {
    const table = start + tableOf(name)
    return {
      layer: name,
      shared,
      pattern: `${start.replace(/[\\*?[\]]/g, '\\$&')}${tableOf(name)}[:!]*`,
      subjectOf: (key: string) => (key.startsWith(table) ? subjectOfRow(key.slice(table.length)) : undefined),
    }
  })
}
