import type { Request } from 'express'
import type * as z from 'zod'
import type { ErrorCode } from '../http/http-error.ts'
import type { Reply } from '../http/route.ts'
import type { Play } from './score.ts'

/** An addition to `POST /v1/music/upsert`: it takes the requests that have its member. */
export interface UpsertExtension {
  /** The member's name. */
  readonly member: string
  readonly body: z.ZodType<string | null | undefined>
  /** Members of the answer's data. */
  readonly answer: z.ZodRawShape
  /** A sentence for the reference. */
  readonly description: string
  readonly errors: readonly ErrorCode[]
  /** Answers a request in place of an upsert. Nothing was charged: it calls the quota itself. */
  take(req: Request, userId: string, value: string, plays: readonly Play[]): Promise<Reply<unknown>>
}
