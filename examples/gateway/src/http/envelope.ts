import * as z from 'zod'

/** The form of a player's answers: clients read all four members. */
export function envelope<T extends z.ZodType>(
  businessData: T,
): z.ZodObject<{ returnCode: z.ZodLiteral<1>; code: z.ZodLiteral<0>; msg: z.ZodString; businessData: T }> {
  return z.object({ returnCode: z.literal(1), code: z.literal(0), msg: z.string(), businessData })
}

/** An answer in that form. */
export function success<T>(businessData: T, msg = 'ok'): { returnCode: 1; code: 0; msg: string; businessData: T } {
  return { returnCode: 1, code: 0, msg, businessData }
}
