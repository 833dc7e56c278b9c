import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import { beijingDay } from '../beijing-day.ts'
import type { Db } from '../db/schema.ts'
import { preconditionOf } from '../http/etag.ts'
import { strictObject } from '../http/http-error.ts'
import { adminRoute, type Route } from '../http/route.ts'
import { CURSOR_ERROR, pageLimit, pageOf, toPage } from '../http/schemas.ts'
import { type AdminUsers, MAX_BALANCE, userEtag } from './admin-users.ts'
import {
  countUsers,
  listUsers,
  nameSchema,
  USER_ORDERS,
  type UserRecord,
  userIdSchema,
  userSchema,
} from './user-repository.ts'

/** The value that a list is sorted by, and a user's id. */
const CURSOR = /^\d{1,15} [!-.0-~]{1,128}$/

const query = strictObject({
  query: nameSchema.optional().describe('The beginning of an id or a name, in any case, or a score sync account.'),
  sort: z
    .enum(USER_ORDERS, { error: `expected one of ${USER_ORDERS.join(', ')}` })
    .default('id')
    .describe("By id, or highest first by today's `tokens` or `refusals` (Beijing time), or by `lastSeen`."),
  cursor: z
    .string()
    .transform((text) => Buffer.from(text, 'base64url').toString())
    .refine((text) => CURSOR.test(text), CURSOR_ERROR)
    .transform((text) => ({ value: Number(text.split(' ')[0]), id: text.split(' ')[1] ?? '' }))
    .optional()
    .describe('`nextCursor` of the previous page, with the same `sort`.'),
  limit: pageLimit.describe('The largest number of entries on the page.'),
})

const params = z.object({ id: userIdSchema })

const QQ_ERROR = 'expected a number from 10000 to 999999999999, or null'
const qq = z
  .number(QQ_ERROR)
  .refine((value) => Number.isInteger(value) && value >= 10_000 && value <= 999_999_999_999, QQ_ERROR)
  .meta({ type: 'integer', minimum: 10_000, maximum: 999_999_999_999 })
  .nullable()

const userBody = strictObject({
  name: nameSchema.optional(),
  role: z.enum(['player', 'admin'], { error: 'expected one of player, admin' }).optional(),
  disabled: z.boolean('expected true or false').optional().describe('`true`: all credentials are rejected with a 403.'),
  qq: qq.optional(),
})

const CREDITS_ERROR = `expected a whole number of credits, at most ${MAX_BALANCE}`
const credits = z
  .number(CREDITS_ERROR)
  .refine((value) => Number.isInteger(value) && Math.abs(value) <= MAX_BALANCE, CREDITS_ERROR)
  .meta({ type: 'integer', minimum: -MAX_BALANCE, maximum: MAX_BALANCE })
const notNegative = credits
  .refine((value) => value >= 0, 'expected no negative number')
  .meta({ type: 'integer', minimum: 0, maximum: MAX_BALANCE })

const from = notNegative.optional().describe('Only set it if the balance is this.')
/** The two forms, for the reference. */
const balanceForm = z.union([z.strictObject({ add: credits }), z.strictObject({ set: notNegative, from })])
const balanceBody = strictObject({ add: credits.optional(), set: notNegative.optional(), from })
  .refine((body) => (body?.add === undefined) !== (body?.set === undefined), {
    error: 'expected one of add and set',
    // Always checked, so that one response names all faults.
    when: () => true,
  })
  .refine((body) => body?.from === undefined || body.set !== undefined, {
    path: ['from'],
    error: 'goes with set alone',
    when: () => true,
  })
  .transform(({ add, set, from }) => (add === undefined ? { set: set ?? 0, from } : { add }))

const listedUser = userSchema.extend({
  tokensToday: z.int().describe('Tokens charged since midnight in Beijing.'),
  refusalsToday: z.int().describe('Requests that a limit refused since midnight in Beijing.'),
  lastSeenAt: z.iso.datetime().nullable().describe('The last metered request; `null`: none within a month.'),
  tightest: z
    .object({ name: z.string(), limit: z.int(), used: z.int() })
    .nullable()
    .describe('The personal limit with the largest share used; `null`: the counters are unavailable.'),
})

interface AdminUserDeps {
  readonly db: Db
  readonly clock: Clock
  readonly admin: AdminUsers
  /** Writes the usage of this process up to now. */
  flush(): Promise<void>
  /** The personal limit of which a user has used most; `null` if the counters are unavailable. */
  tightestOf(userId: string): Promise<z.output<typeof listedUser>['tightest']>
}

/** Routes for administrators to manage users. */
export function adminUserRoutes({ db, clock, admin, flush, tightestOf }: AdminUserDeps): Route[] {
  return [
    adminRoute('GET /admin/users', {
      id: 'listUsers',
      summary: 'Users and their usage',
      description: "Pass a page's `nextCursor` as the `cursor` of the next page.",
      query,
      answer: pageOf(listedUser).extend({ total: z.int().describe('How many users the search finds.') }),
      async handle({ query: { query: text, sort: order, cursor: after, limit } }) {
        await flush()
        const search = { text, order, after, limit: limit + 1 }
        const [found, total] = await Promise.all([listUsers(db, search, beijingDay(clock.now())), countUsers(db, text)])
        const page = toPage(found, limit, ({ value, user }) => Buffer.from(`${value} ${user.id}`).toString('base64url'))
        const items = page.items.map(async ({ user, value: _, ...usage }) => {
          return { ...user, ...usage, tightest: await tightestOf(user.id) }
        })
        return { body: { items: await Promise.all(items), nextCursor: page.nextCursor, total } }
      },
    }),
    adminRoute('GET /admin/users/:id', {
      id: 'findUser',
      summary: 'One user',
      description:
        'The `ETag` covers what administrators set: `name`, `role`, `disabled` and `qq`. Send it as `If-Match` of a change.',
      params,
      answerHeaders: ['ETag'],
      answer: userSchema,
      async handle({ params: { id } }) {
        return replyOf(await admin.get(id))
      },
    }),
    adminRoute('PUT /admin/users/:id', {
      id: 'putUser',
      summary: 'Create or change a user',
      description:
        'Absent members stay unchanged. 201: the user is new. `If-Match` is optional. `If-None-Match: *` only creates users.',
      statuses: [200, 201],
      example: { name: 'Demo' },
      errors: ['conflict'],
      params,
      body: userBody,
      requestHeaders: ['If-Match', 'If-None-Match'],
      answerHeaders: ['ETag'],
      answer: userSchema,
      async handle({ req, params: { id }, input, user: by }) {
        const { isNew, user } = await admin.put(id, input, by.id, preconditionOf(req))
        return { status: isNew ? 201 : 200, ...replyOf(user) }
      },
    }),
    adminRoute('DELETE /admin/users/:id', {
      id: 'deleteUser',
      summary: "Delete a user and all of the user's data",
      description:
        'Permanently deletes tokens, scores, tickets, credits, usage records, overrides and open holds. Charges to shared limits and the audit trail stay. A valid JWT creates a new user with the id, so disable a user to keep someone out. `If-Match` is optional.',
      errors: ['not_found', 'conflict'],
      params,
      requestHeaders: ['If-Match'],
      answer: z.undefined(),
      async handle({ req, params: { id }, user: by }) {
        await admin.remove(id, by.id, preconditionOf(req))
        return { status: 204 }
      },
    }),
    adminRoute('POST /admin/users/:id/balance', {
      id: 'changeBalance',
      summary: "Change a user's balance of ticket credits",
      description:
        'Send `add`, which may be negative, or `set`. With `from`, it is only set if the balance is still `from`.',
      example: { add: 5 },
      bodyForm: balanceForm,
      errors: ['not_found', 'conflict', 'precondition_failed'],
      params,
      body: balanceBody,
      answer: z.object({ id: z.string(), balance: z.int() }),
      async handle({ params: { id }, input, user: by }) {
        return { body: { id, balance: await admin.changeBalance(id, input, by.id) } }
      },
    }),
  ]
}

function replyOf(user: UserRecord): { body: UserRecord; headers: { ETag: string } } {
  return { body: user, headers: { ETag: userEtag(user) } }
}
