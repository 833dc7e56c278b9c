import type { Request } from 'express'
import type * as z from 'zod'
import type { OperationName } from '../quota/policy.ts'
import type { User } from '../users/user.ts'

/** Who may use a route: anybody, users, or users with the administrator's role. */
export type Access = 'public' | 'user' | 'admin'

/** What a handler is given. */
interface Call<Input> {
  readonly req: Request
  /** What the route made of the body. */
  readonly input: Input
}

/** A call whose caller is known. */
interface UserCall<Input> extends Call<Input> {
  readonly user: User
}

/** What a handler answers. */
export interface Reply<T> {
  /** @default 200 */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Absent: an answer without a body. */
  readonly body?: T | undefined
}

interface RouteBase<Body, Input, Answer> {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  readonly path: string
  /** The request's body: 422 names everything that is wrong with it. Absent: a body is not looked at. */
  readonly body?: z.ZodType<Body> | undefined
  /** The body of a success. */
  readonly answer: z.ZodType<Answer>
  /** What is charged; absent: free. */
  readonly operation?: OperationName | undefined
  /** Checks what needs a look at stored data (422 too, so before the charge), and makes the handler's input. */
  prepare?(body: Body): Promise<Input>
}

/** One operation of the interface: who, what comes in, what it costs, what goes out. */
export type Route<Body = unknown, Input = Body, Answer = unknown> =
  | (RouteBase<Body, Input, Answer> & {
      readonly access: 'public'
      handle(call: Call<Input>): Reply<Answer> | Promise<Reply<Answer>>
    })
  | (RouteBase<Body, Input, Answer> & {
      readonly access: 'user' | 'admin'
      handle(call: UserCall<Input>): Reply<Answer> | Promise<Reply<Answer>>
    })

/** A route of any body: states the types of one, and forgets them for lists. */
export function route<Body, Input = Body, Answer = unknown>(definition: Route<Body, Input, Answer>): Route {
  return definition as unknown as Route
}
