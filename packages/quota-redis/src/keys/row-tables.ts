import type { Policy } from '@scoregw/quota'
import { subjectOfRow, tableOf } from './keys.ts'

/** Which keys are the rows of one layer and category. */
export interface RowTable {
  readonly layer: string
  readonly category: string
  /** Whether all subjects share one row. */
  readonly shared: boolean
  /** A pattern of `SCAN` for the keys. */
  readonly pattern: string
  /** Whose row a key is, `''` of a shared one; `undefined`: the key is no row of this table. */
  subjectOf(key: string): string | undefined
}

/**
 * The tables of a policy's rows under a prefix, for tools that inspect stored rows: the contents of a row are the
 * store's to read, by `quota.status()`.
 */
export function rowTables(prefix: string, { layers, categories }: Pick<Policy, 'layers' | 'categories'>): RowTable[] {
  const start = `{${prefix}}`
  return layers.flatMap(({ name, shared }) =>
    categories.map((category) => {
      const table = start + tableOf(name, category)
      return {
        layer: name,
        category,
        shared,
        pattern: `${table.replace(/[\\*?[\]]/g, '\\$&')}[:!]*`,
        subjectOf: (key: string) => (key.startsWith(table) ? subjectOfRow(key.slice(table.length)) : undefined),
      }
    }),
  )
}
