import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata, UseGuards } from '@nestjs/common'
import type { Counting, Quota as Engine, OneUnit } from '@scoregw/quota'
import type { RequestQuota as MeteredQuota } from '@scoregw/quota/http'
import type { ChargeInTransaction, NestRequest } from './adapter.ts'
import { QuotaGuard } from './guard.ts'
import { QUOTA_OF_ROUTE, type QuotaOfRoute } from './meters.ts'
import type { QuotaRouteOptions } from './options.ts'

/**
 * Meters a route, or all routes of a controller, as one operation; `false`: not metered. A route's decorator takes
 * precedence over its controller's.
 *
 * Nest runs a controller's guards before a route's. Within one place, the lowest decorator runs first. So write
 * `@Quota()` above the guard that sets `request.user`.
 *
 * @param options of this route; a cost, when to settle
 * @example
 * \@Post('music')
 * \@Quota('music.upsert')
 * \@UseGuards(AuthGuard)
 * save() {}
 */
export function Quota<Request extends object = NestRequest>(
  operation: string | false,
  options: QuotaRouteOptions<Request> = {},
): ClassDecorator & MethodDecorator {
  const said: QuotaOfRoute = operation === false ? { operation } : { operation, options }
  return applyDecorators(SetMetadata(QUOTA_OF_ROUTE, said), UseGuards(QuotaGuard))
}

/** The engine: the type of a parameter with `@InjectQuota()`. */
export type Quota<Operation extends string = string, C extends Counting = OneUnit> = Engine<Operation, C>

/** Handler parameter with the quota of its request; `undefined` if the request isn't metered. */
export const RequestQuota: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext): MeteredQuota | undefined =>
    context.switchToHttp().getRequest<{ quota?: MeteredQuota }>().quota,
)
export type RequestQuota = MeteredQuota

/**
 * Handler parameter that charges the request in the transaction of its work; `undefined` on routes without
 * `inTransaction`.
 *
 * @example
 * \@Post('music')
 * \@Quota('music.upsert', { inTransaction: true })
 * save(@Charge() charge: Charge) {
 *   return this.db.transaction().execute(async (transaction) => {
 *     await charge(transaction)
 *     await transaction.insertInto('music').values({ ... }).execute()
 *   })
 * }
 */
export const Charge: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Charge | undefined =>
    context.switchToHttp().getRequest<{ charge?: Charge }>().charge,
)
/**
 * Charges a request in a transaction of the store's kind, such as kysely's `Transaction`. Returns the decision;
 * `undefined` if the request isn't metered. Throws {@link QuotaException} if it is refused: let it leave the
 * transaction, which is then rolled back.
 */
export type Charge = ChargeInTransaction
