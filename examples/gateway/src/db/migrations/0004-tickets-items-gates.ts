import type { Kysely } from 'kysely'
import type { Db } from '../schema.ts'

/** Tickets, items, gates, and stored replies. */
export async function ticketsItemsGates(db: Kysely<unknown>): Promise<void> {
  await dataChanges(db)
  await tickets(db)
  await items(db)
  await gates(db)
  await storedReplies(db)
}

async function dataChanges(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('users').addColumn('data_changed_at', 'bigint').execute()
  await (db as Db)
    .updateTable('users')
    .set(({ selectFrom }) => ({
      data_changed_at: selectFrom('scores')
        .select(({ fn }) => fn.max('updated_at').as('at'))
        .whereRef('scores.user_id', '=', 'users.id'),
    }))
    .execute()
}

async function tickets({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('tickets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('charge_id', 'integer', (column) => column.notNull())
    .addColumn('stock', 'integer', (column) => column.notNull())
    .addColumn('purchased_at', 'bigint', (column) => column.notNull())
    .addColumn('valid_until', 'bigint', (column) => column.notNull())
    .execute()
  await schema.createIndex('tickets_by_user').on('tickets').column('user_id').execute()
}

async function items({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('items')
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('item_kind', 'integer', (column) => column.notNull())
    .addColumn('item_id', 'integer', (column) => column.notNull())
    .addColumn('stock', 'integer', (column) => column.notNull())
    .addColumn('is_valid', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('items_key', ['user_id', 'item_kind', 'item_id'])
    .execute()
}

async function gates({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('gates')
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('gate_id', 'integer', (column) => column.notNull())
    .addColumn('is_gate_found', 'integer', (column) => column.notNull())
    .addColumn('is_key_found', 'integer', (column) => column.notNull())
    .addColumn('is_clear', 'integer', (column) => column.notNull())
    .addColumn('total_rest_life', 'integer', (column) => column.notNull())
    .addColumn('total_achievement', 'bigint', (column) => column.notNull())
    .addColumn('total_deluxscore', 'bigint', (column) => column.notNull())
    .addColumn('best_achievement', 'bigint', (column) => column.notNull())
    .addColumn('best_deluxscore', 'bigint', (column) => column.notNull())
    .addColumn('best_achievement_at', 'bigint')
    .addColumn('best_deluxscore_at', 'bigint')
    .addColumn('play_count', 'integer', (column) => column.notNull())
    .addColumn('clear_at', 'bigint')
    .addColumn('last_play_at', 'bigint')
    .addColumn('is_info_watched', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('gates_key', ['user_id', 'gate_id'])
    .execute()
}

async function storedReplies({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('idempotency_keys')
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('request_hash', 'text', (column) => column.notNull())
    .addColumn('claim_id', 'text', (column) => column.notNull().unique())
    .addColumn('reply', 'text')
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_key', ['user_id', 'key'])
    .execute()
  await schema.createIndex('idempotency_keys_by_expiry').on('idempotency_keys').column('expires_at').execute()
}
