import { cellOfIdentity } from '@scoregw/quota/internal'
import type { RecordPlace } from '../keys/keys.ts'
import type { Batch } from './batch.ts'
import type { HoldOfRecord } from './record.ts'
import type { Row } from './rows.ts'

/** Writes the step that keeps a row. @param until an instant; below 0, in that many milliseconds */
export function encodeKeep(batch: Batch, row: Row, until: number): void {
  batch.step('keep', row.place, batch.listOf(row), until)
}

/** Writes the steps that keep the rows in which a hold has slots. */
export function encodeSlots(batch: Batch, { charges, endsAt }: HoldOfRecord): void {
  const slots = charges.filter(([, identity]) => cellOfIdentity(identity)?.kind === 'concurrency')
  for (const [name] of slots) encodeKeep(batch, batch.rowNamed(name), endsAt)
}

/** Writes the step that fails if a record has changed. */
export function encodeExpect(batch: Batch, { key }: RecordPlace, mark: string): void {
  batch.step('expect', batch.record(key), batch.text(Buffer.from(mark, 'latin1')))
}
