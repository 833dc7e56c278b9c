import type { SnapshotPart } from '@scoregw/quota/internal'
import type { NamedCell, NamedRecord } from '@scoregw/quota/store'
import { type Changes, changedRecord, type IdChange, type RowChange, RowChanges } from './changes.ts'
import { keptText } from './names.ts'
import { rowRef } from './requested.ts'
import type { StepDeps } from './step.ts'

/** A part of a memory store's snapshot, as rows and records. */
export function restored(
  part: SnapshotPart,
  { scratch, layouts }: StepDeps,
  now: number,
): Pick<Changes, 'rows' | 'ids'> {
  scratch.begin(now)
  const changes = new RowChanges(layouts, scratch, now)
  const rows: RowChange[] = []
  for (const [index, subject, cells] of part.rows) {
    const table = part.tables[index]
    if (table === undefined) continue
    const place = { layer: table.layer, key: subject }
    scratch.putRow(place, named(table.cells, cells))
    const row = changes.of({ ...rowRef(place), layouts: [] }, undefined, [])
    if (row !== undefined) rows.push(row)
  }
  const ids: IdChange[] = []
  for (const [text, { hold, ...record }] of part.ids) {
    const [by, owner, id] = JSON.parse(text) as [string, string, string]
    const rowsOf = hold?.rows.map(({ layer, key, charged }) => {
      const table = part.tables.find((each) => each.layer === layer)
      return { layer, key, charged: named(table?.cells ?? [], charged) }
    })
    const taken: NamedRecord = hold === undefined ? record : { ...record, hold: { ...hold, rows: rowsOf ?? [] } }
    const change = changedRecord([by, keptText(owner), keptText(id)], undefined, taken)
    if (change !== undefined) ids.push(change)
  }
  return { rows, ids }
}

function named(identities: readonly string[], pairs: readonly number[]): NamedCell[] {
  return identities.flatMap((identity, at): NamedCell[] => {
    const [startedAt, used] = [pairs[2 * at], pairs[2 * at + 1]]
    return startedAt === undefined || used === undefined ? [] : [[identity, startedAt, used]]
  })
}
