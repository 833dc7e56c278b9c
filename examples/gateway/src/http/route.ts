import type { Request, RequestHandler, Response } from 'express'
import * as z from 'zod'
import type { Charge } from '../db/with-player.ts'
import type { ErrorCode } from './http-error.ts'
import type { User } from './request-context.ts'

/**
 * What the reference (`/openapi.json`) says about a route in addition to its schemas. Tests check every response
 * against it: an undocumented status, error or body member fails them.
 */
interface RouteDocs {
  /** Names the operation in generated clients, for example `upsertMusic`. */
  readonly id: string
  /** One line, without a full stop. */
  readonly summary: string
  /** Its purpose. Price and category are added from the policy. */
  readonly description?: string | undefined
  /** Statuses of a success. @default 200, or 204 where the answer has no body */
  readonly statuses?: readonly number[] | undefined
  /**
   * Errors in addition to those that follow from the route. These follow: 401 and 403 from its access; 400, 413, 415 and
   * 422 `validation_failed` from `body`; 404 `not_found` from `params`; 412 from `If-Match`; 409 and 422 from
   * `Idempotency-Key`; 429 and 503 from `operation`. If you list `precondition_required`, `If-Match` is required.
   */
  readonly errors?: readonly ErrorCode[] | undefined
  /** The possible operations, if `operation` depends on the body. */
  readonly operations?: readonly string[] | undefined
  /** A body that passes the schema and works with the demo's data. Needed if `{}` doesn't pass. */
  readonly example?: unknown
  /**
   * The form of the body as people should read it, if the schema can't express it: `z.preprocess` with several forms.
   */
  readonly bodyForm?: z.ZodType | undefined
}

/** The arguments of a handler. */
export interface Call<Input, Query = unknown, Params = unknown> {
  readonly req: Request
  /** The input that the route made from the body. */
  readonly input: Input
  readonly query: Query
  readonly params: Params
  /** Charges for the request in the transaction of its work. Does nothing if it was charged before. */
  readonly charge: Charge
}

/** A call with a known caller. */
export interface UserCall<Input, Query = unknown, Params = unknown> extends Call<Input, Query, Params> {
  readonly user: User
}

/** A handler's response. */
export interface Reply<T> {
  /** @default 200 */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Absent: a response without a body. */
  readonly body?: T | undefined
  /**
   * Writes events instead of `body`, and ends the response itself. For routes with the `answerType`
   * `text/event-stream`.
   */
  readonly stream?: ((res: Response) => void) | undefined
}

interface RouteBase<Body, Input, Query, Params, Answer> extends RouteDocs {
  /** The variables in the path: a `z.object` whose members have descriptions. */
  readonly params?: z.ZodType<Params, Record<string, unknown>> | undefined
  /** The query's fields, which arrive as text: a `z.object` of `z.coerce...` and `z.string()`. */
  readonly query?: z.ZodType<Query, Record<string, unknown>> | undefined
  /** The request's body; 422 lists everything that is wrong with it. Absent: the body is ignored. */
  readonly body?: z.ZodType<Body> | undefined
  /** The body of a success; `z.undefined()`: none, with status 204. */
  readonly answer: z.ZodType<Answer>
  /**
   * The media type of a success that isn't JSON. With `text/event-stream`, `HEAD` is answered without the handler, and
   * header fields keep caches and proxies from holding events back.
   */
  readonly answerType?: string | undefined
  /**
   * The operation to charge: its name, or a function of the parsed input. Absent: the request is free. A function may
   * return `undefined` if the route calls the quota itself.
   */
  readonly operation?: string | ((input: Input) => string | undefined) | undefined
  /**
   * Whether the handler calls `charge` first in the transaction of its work, so that both are committed or neither is.
   * If the counters are in another store, the request is charged before the handler, like any other.
   */
  readonly chargesInTransaction?: boolean | undefined
  /** Header fields that the route reads, for the reference. */
  readonly requestHeaders?: readonly ('If-Match' | 'If-None-Match' | 'Idempotency-Key')[] | undefined
  /** Header fields that the handler sets on a success. */
  readonly answerHeaders?: readonly ('ETag' | 'Location' | 'Idempotency-Replayed')[] | undefined
  /** Validates what needs a read of stored data (422 too, so before the charge), and makes the handler's input. */
  prepare?(body: Body): Promise<Input>
}

type Handle<C, Answer> = (call: C) => Reply<Answer> | Promise<Reply<Answer>>

interface OpenRoute<Body = unknown, Input = Body, Query = unknown, Params = unknown, Answer = unknown>
  extends RouteBase<Body, Input, Query, Params, Answer> {
  readonly handle: Handle<Call<Input, Query, Params>, Answer>
}

interface UserRoute<Body = unknown, Input = Body, Query = unknown, Params = unknown, Answer = unknown>
  extends RouteBase<Body, Input, Query, Params, Answer> {
  /** A response that needs neither a charge nor work, for example a stored one; `undefined` to go on. */
  readonly recall?: (call: UserCall<Input, Query, Params>) => Promise<Reply<Answer> | undefined>
  readonly handle: Handle<UserCall<Input, Query, Params>, Answer>
}

/** Where the reference lists a route: one of the tags in `openapi/document.ts`. */
interface Tagged {
  readonly tag: string
}

interface Place extends Tagged {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** In Express's form, for example `/admin/users/:id`. */
  readonly path: string
}

/**
 * One operation of the API: who may use it, its input, its price and its response.
 * `access` is anybody, users, or users with the administrator's role. In services without users it is the holders of
 * the service's own credentials.
 */
export type Route = Place &
  (({ readonly access: 'public' | 'holder' } & OpenRoute) | ({ readonly access: 'user' | 'admin' } & UserRoute))

/** A method and a path: `POST /v1/charge`. */
type Line = `${'GET' | 'POST' | 'PUT' | 'DELETE'} ${string}`

/** A route for anybody. */
export const publicRoute = openTo('public')
/** A route for holders of the service's credentials. */
export const holderRoute = openTo('holder')

function openTo(access: 'public' | 'holder') {
  return <Body, Input = Body, Query = unknown, Params = unknown, Answer = unknown>(
    line: Line,
    definition: OpenRoute<Body, Input, Query, Params, Answer> & Tagged,
  ): Route => erased(line, { access, ...definition })
}

/** A route for users. */
export function userRoute<Body, Input = Body, Query = unknown, Params = unknown, Answer = unknown>(
  line: Line,
  definition: UserRoute<Body, Input, Query, Params, Answer> & Tagged,
): Route {
  return erased(line, { access: 'user', ...definition })
}

/** A route for administrators. */
export function adminRoute<Body, Input = Body, Query = unknown, Params = unknown, Answer = unknown>(
  line: Line,
  definition: UserRoute<Body, Input, Query, Params, Answer>,
): Route {
  return erased(line, { access: 'admin', tag: 'Administration', ...definition })
}

/** The types of one route are checked where it is made, and erased for lists of routes. */
function erased(line: Line, definition: object): Route {
  const [method = '', path] = line.split(' ')
  return { method: method.toLowerCase(), path, ...definition } as unknown as Route
}

/** Makes the step that charges for a route's requests. */
export type Metered = (route: Route) => RequestHandler

/** The members of a player's responses besides the requested data. Clients read all of them. */
interface Envelope {
  readonly returnCode: 1
  readonly code: 0
  readonly msg: string
  /** The same text again, for clients that know it under this name. */
  readonly returnMessage: string
}

/** The form of a player's responses. */
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

/** A response in that form. */
export function success<T>(businessData: T, msg = 'ok'): Envelope & { businessData: T } {
  return { returnCode: 1, code: 0, msg, returnMessage: msg, businessData }
}
