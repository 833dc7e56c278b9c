import type { Request, RequestHandler, Response } from 'express'
import type { Transaction } from 'kysely'
import * as z from 'zod'
import type { Tables } from '../db/schema.ts'
import type { ErrorCode } from './http-error.ts'
import type { User } from './request-context.ts'

/**
 * What the reference (`/openapi.json`) says of a route beside what follows from its schemas. Tests hold every answer
 * against it: a status, an error or a member of a body that is not documented makes them fail.
 */
interface RouteDocs {
  /** Names the operation in generated clients, for example `upsertMusic`. */
  readonly id: string
  /** One of the tags in `openapi/document.ts`. */
  readonly tag: string
  /** One line, without a full stop. */
  readonly summary: string
  /** What it is for. Price and category are added from the policy. */
  readonly description?: string | undefined
  /** Statuses of a success. @default 200, or 204 where the answer has no body */
  readonly statuses?: readonly number[] | undefined
  /**
   * Errors beside those that follow from the route's form. These do: 401 and 403 from `access`; 400, 413, 415 and 422
   * `validation_failed` from `body`; 404 `not_found` from `params`; 412 from `If-Match`; 409 and 422 from
   * `Idempotency-Key`; 429 and 503 from `operation`. `precondition_required` here makes `If-Match` required.
   */
  readonly errors?: readonly ErrorCode[] | undefined
  /** Where `operation` depends on the body: the operations that it can be. */
  readonly operations?: readonly string[] | undefined
  /** A body that works with the demo's data and passes the schema. Needed where `{}` does not pass. */
  readonly example?: unknown
  /** The form of the body for people, where the schema cannot tell it: `z.preprocess` with several forms. */
  readonly bodyForm?: z.ZodType | undefined
}

/** What a handler is given. */
export interface Call<Input, Query = unknown, Params = unknown> {
  readonly req: Request
  /** What the route made of the body. */
  readonly input: Input
  readonly query: Query
  readonly params: Params
  /** Charges for the request, where the route does that within the transaction of its work. */
  readonly charge: Charge
}

/** A call whose caller is known. */
export interface UserCall<Input, Query = unknown, Params = unknown> extends Call<Input, Query, Params> {
  readonly user: User
}

/** The answer of a handler. */
export interface Reply<T> {
  /** @default 200 */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Absent: an answer without a body. */
  readonly body?: T | undefined
  /** Writes events in place of `body`, and ends when it likes; for routes whose `answerType` is `text/event-stream`. */
  readonly stream?: ((res: Response) => void) | undefined
}

interface RouteBase<Body, Input, Query, Params, Answer> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** In Express's form, for example `/admin/users/:id`. */
  readonly path: string
  readonly docs: RouteDocs
  /** The variable parts of the path, by name: a `z.object` whose members have descriptions. */
  readonly params?: z.ZodType<Params> | undefined
  /** The query's fields, which come as texts: a `z.object` of `z.coerce...` and `z.string()`. */
  readonly query?: z.ZodType<Query> | undefined
  /** The request's body: 422 names everything that is wrong with it. Absent: a body is not looked at. */
  readonly body?: z.ZodType<Body> | undefined
  /** The body of a success; `z.undefined()`: none, and the status is 204. */
  readonly answer: z.ZodType<Answer>
  /**
   * Media type of a success, where it is not JSON. `text/event-stream`: `HEAD` is answered without the handler, and caches
   * and proxies are kept from holding events back.
   */
  readonly answerType?: string | undefined
  /**
   * The operation to charge, by name or by the parsed body; absent: free. A function may answer `undefined` where the
   * route calls the quota itself.
   */
  readonly operation?: string | ((input: Input) => string | undefined) | undefined
  /**
   * Whether the handler calls `charge` first in the transaction of its work, so that both are committed or neither is. Where
   * the counters are elsewhere the request is charged before it is handled, as any other. One whose handler never called
   * it is charged when it is handled, and the mistake is logged.
   */
  readonly chargesWithin?: boolean | undefined
  /** Header fields that the route reads, for the reference: `If-Match`, `Idempotency-Key`. */
  readonly requestHeaders?: readonly string[] | undefined
  /** Header fields of a success that the handler sets: `ETag`, `Location`, `Idempotency-Replayed`. */
  readonly answerHeaders?: readonly string[] | undefined
  /** Checks what needs a read of stored data (422 too, so before the charge), and makes the handler's input. */
  prepare?(body: Body): Promise<Input>
}

type Handle<C, Answer> = (call: C) => Reply<Answer> | Promise<Reply<Answer>>

/**
 * One operation of the interface: who, what comes in, what it costs, what goes out.
 *
 * `access` is who may use it: anybody; users; users with the administrator's role; in services that have no users,
 * holders of one of the service's own credentials.
 */
export type Route<Body = unknown, Input = Body, Query = unknown, Params = unknown, Answer = unknown> =
  | (RouteBase<Body, Input, Query, Params, Answer> & {
      readonly access: 'public' | 'holder'
      readonly handle: Handle<Call<Input, Query, Params>, Answer>
    })
  | (RouteBase<Body, Input, Query, Params, Answer> & {
      readonly access: 'user' | 'admin'
      /**
       * An answer that needs neither a charge nor work, for example one that was stored; `undefined`: go on. What it
       * takes for the work, it gives back through the context's `abandon`.
       */
      readonly recall?: (call: UserCall<Input, Query, Params>) => Promise<Reply<Answer> | undefined>
      readonly handle: Handle<UserCall<Input, Query, Params>, Answer>
    })

/** A route of any body: states the types of one, and forgets them for lists. */
export function route<Body, Input = Body, Query = unknown, Params = unknown, Answer = unknown>(
  definition: Route<Body, Input, Query, Params, Answer>,
): Route {
  return definition as unknown as Route
}

/** The charge of a request. */
interface Charged {
  /** In tokens. */
  readonly cost: number
}

/**
 * Charges for a request in the transaction of its work, of which it has to be the first step: what it throws rolls the
 * transaction back, and is answered. Where the request was charged before its work, it does nothing.
 *
 * @throws {TypeError} called once more: a request is charged once
 * @returns what was charged; `undefined`: the request is free
 */
export type Charge = (transaction: Transaction<Tables>) => Promise<Charged | undefined>

/** A request's work; resolves to what sends its answer. */
export type Work = (req: Request, res: Response, charge: Charge) => Promise<() => void>

/** The members of a route that its charge depends on. */
export interface ChargedRoute {
  readonly operation: string | ((input: unknown) => string | undefined)
  readonly chargesWithin: boolean
}

/** Makes the step that charges for a route's requests, and does their work where they may go on. */
export type ChargeStep = (route: ChargedRoute, work: Work) => RequestHandler

/** The members of a player's answers besides the requested data: clients read all of them. */
interface Envelope {
  readonly returnCode: 1
  readonly code: 0
  readonly msg: string
  /** The same text once more, for clients that know it by this name. */
  readonly returnMessage: string
}

/** The form of a player's answers. */
export function envelope<T extends z.ZodType>(
  businessData: T,
): z.ZodObject<{
  returnCode: z.ZodLiteral<1>
  code: z.ZodLiteral<0>
  msg: z.ZodString
  returnMessage: z.ZodString
  businessData: T
}> {
  const msg = z.string()
  const returnMessage = z.string().describe('The same as `msg`.')
  return z.object({ returnCode: z.literal(1), code: z.literal(0), msg, returnMessage, businessData })
}

/** An answer in that form. */
export function success<T>(businessData: T, msg = 'ok'): Envelope & { businessData: T } {
  return { returnCode: 1, code: 0, msg, returnMessage: msg, businessData }
}
