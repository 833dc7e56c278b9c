import type { Quota } from '@scoregw/quota'
import { refusalMessage } from '@scoregw/quota/http'
import { initTRPC, TRPCError } from '@trpc/server'

interface Context {
  readonly user: string
}

const t = initTRPC.context<Context>().create()

export const { router, createCallerFactory } = t

/**
 * A procedure whose calls are charged as an operation, and refunded
 * when they fail.
 */
export function metered<Operation extends string>(
  quota: Quota<Operation>,
  operation: Operation,
) {
  return t.procedure.use(async ({ ctx, next }) => {
    const reservation = await quota.reserve({
      subject: ctx.user,
      operation,
    })
    if (!reservation.allowed) {
      const message =
        reservation.decision === undefined
          ? 'done already'
          : refusalMessage(reservation.decision)
      throw new TRPCError({ code: 'TOO_MANY_REQUESTS', message })
    }
    // tRPC reports an error in its result; nothing is thrown here.
    const result = await next()
    await (result.ok ? reservation.commit() : reservation.cancel())
    return result
  })
}
