import * as z from 'zod'

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
