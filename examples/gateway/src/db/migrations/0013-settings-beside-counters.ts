import { type Kysely, sql } from 'kysely'
import { COUNTERS } from './0010-counters.ts'

/** The tables that move, with their columns. `key` becomes `subject`. */
const MOVES = [
  ['quota_settings', 'settings', ['layer', 'key', 'version', 'revision', 'document']],
  ['quota_changes', 'changes', ['seq', 'layer', 'key', 'revision', 'changed_by', 'changed_at', 'before', 'after']],
  ['adaptive_factor', 'factor', ['id', 'version', 'minute', 'state']],
  [
    'outcome_minutes',
    'outcomes',
    ['minute', 'calls', 'code_zero', 'client_error', 'server_error', 'business_fail', 'refused', 'quota_unavailable'],
  ],
] as const

/** Moves settings, factor and outcomes to tables next to the counters' own. */
export async function settingsBesideCounters(db: Kysely<unknown>): Promise<void> {
  for (const [from, to, columns] of MOVES) {
    const target = sql.table(`${COUNTERS}_${to}`)
    const names = columns.map((name) => sql.ref(name === 'key' ? 'subject' : name))
    await sql`insert into ${target} (${sql.join(names)})
      select ${sql.join(columns.map((name) => sql.ref(name)))} from ${sql.table(from)}`.execute(db)
    await db.schema.dropTable(from).execute()
  }
  const counter = sql.table('quota_change_counter')
  await sql`update ${sql.table(`${COUNTERS}_change_counter`)} set last_seq = (select max(last_seq) from ${counter})`.execute(
    db,
  )
  await db.schema.dropTable('quota_change_counter').execute()
}
