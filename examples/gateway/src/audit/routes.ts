import type { Selectable } from 'kysely'
import * as z from 'zod'
import type { AuditEntryTable } from '../db/schema.ts'
import { CURSOR_ERROR, pageLimit, pageOf, toPage } from '../http/page.ts'
import { type Route, route } from '../http/route.ts'
import { AUDIT_ACTIONS, type AuditAction, type AuditLog } from './audit-log.ts'

const query = z.strictObject({
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, CURSOR_ERROR)
    .transform(Number)
    .optional()
    .describe('`nextCursor` of the previous page.'),
  limit: pageLimit.describe('The largest number of entries on the page.'),
  action: z
    .enum(AUDIT_ACTIONS, { error: `expected one of ${AUDIT_ACTIONS.join(', ')}` })
    .optional()
    .describe('Only entries of this kind.'),
})

const document = z.record(z.string(), z.unknown()).nullable()

const entry = z.object({
  seq: z.int(),
  at: z.iso.datetime(),
  by: z.string().nullable().describe("A user's id, or `command line`."),
  action: z.enum(AUDIT_ACTIONS),
  subject: z.string().nullable().describe('The id of what was changed; `null`: the settings of all users.'),
  before: document,
  after: document,
})
type Entry = z.output<typeof entry>

/** Converts a stored document to the form that administrators know. */
export type Shown = (action: AuditAction, stored: unknown) => Entry['before']

/** The audit trail. */
export function auditRoutes(audit: AuditLog, shown: Shown): Route[] {
  return [
    route({
      method: 'get',
      path: '/admin/audit',
      docs: {
        id: 'listAudit',
        tag: 'Administration',
        summary: 'The audit trail of changes, the newest first',
        description: 'Follow `nextCursor` until it is `null`. While entries are written, no page repeats or skips one.',
      },
      access: 'admin',
      query,
      answer: pageOf(entry),
      async handle({ query: { cursor, limit, action } }) {
        const entries = await audit.page(cursor, limit + 1, action)
        const { items, nextCursor } = toPage(entries, limit, ({ seq }) => String(seq))
        return { body: { items: items.map((entry) => toEntry(entry, shown)), nextCursor } }
      },
    }),
  ]
}

function toEntry(
  { seq, at, by, action: name, subject, before, after }: Selectable<AuditEntryTable>,
  shown: Shown,
): Entry {
  // Nothing else is ever recorded.
  const action = name as AuditAction
  return {
    seq,
    at: new Date(at).toISOString(),
    by,
    action,
    subject,
    before: before === null ? null : shown(action, JSON.parse(before)),
    after: after === null ? null : shown(action, JSON.parse(after)),
  }
}
