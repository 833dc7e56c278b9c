import * as z from 'zod'
import type { ErrorBody } from '../http/error-handler.ts'
import { ERROR_CODES, type ErrorCode, HttpError, type HttpErrorOptions } from '../http/http-error.ts'
import type { About } from '../openapi/document.ts'

/** A refusal of score sync, with what the bot needs to go on. */
export class SyncError extends HttpError {
  override readonly name = 'SyncError'
  /** Indices of the chunks that are missing before a final one. */
  readonly missing: readonly number[] | undefined

  constructor(code: ErrorCode, msg: string, options: HttpErrorOptions & { readonly missing?: readonly number[] } = {}) {
    super(code, msg, options)
    this.missing = options.missing
  }
}

/** When a player's next write may be tried, in seconds. */
const BUSY_RETRY_SECONDS = 1

/** 503, since clients of score sync repeat a request after it: another write of the player is in flight. */
export function playerBusy(qq: number, cause?: unknown): SyncError {
  const msg = `Another write for ${qq} is under way. Send the same request again.`
  return new SyncError('player_busy', msg, { retryAfterSeconds: BUSY_RETRY_SECONDS, cause })
}

/**
 * `{ error, msg, detail, requestId, details?, missing?, retryAfterSeconds? }`: `detail` repeats `msg` for existing
 * clients.
 */
export const syncErrorBody: ErrorBody = (error, requestId) => {
  const { code, message: msg, details, retryAfterSeconds } = error
  const missing = error instanceof SyncError ? error.missing : undefined
  return { error: code, msg, detail: msg, requestId, details, missing, retryAfterSeconds }
}

const syncErrorSchema: z.ZodType = z
  .object({
    error: z.enum(ERROR_CODES).describe('What went wrong, for programs.'),
    msg: z.string().describe('What went wrong, for people.'),
    detail: z.string().describe('The same as `msg`.'),
    requestId: z.string().describe("The request's id in our log."),
    details: z
      .array(z.object({ path: z.string(), msg: z.string() }))
      .optional()
      .describe('All faults of the request, by dotted path.'),
    missing: z.array(z.int()).optional().describe('With `snapshot_incomplete`: the chunks that have not arrived.'),
    retryAfterSeconds: z.int().optional().describe('Whole seconds to wait before retrying.'),
  })
  .meta({ id: 'Error', description: 'What went wrong.' })

const DESCRIPTION = `Bots bring players' scores here, for any player by \`qq\`. An account of the gateway that is linked to
that \`qq\` has them at once; for others they are kept until an account is linked.

**Credential.** \`Bot-Token\`. Credentials of the other services do not work here.

**Chunks.** A full snapshot comes in chunks under one \`snapshot_id\`, the last of them with \`snapshot_final\`. Send a chunk
again, identical, after 500, 502 to 504 or no answer: it is stored once.`

/** What the document of score sync says. */
export const ABOUT_SYNC: About = {
  title: 'Score sync',
  description: DESCRIPTION,
  errorBody: syncErrorSchema,
  securitySchemes: {
    botToken: { type: 'apiKey', in: 'header', name: 'Bot-Token', description: 'A token that administrators issue.' },
  },
}
