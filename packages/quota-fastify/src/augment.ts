/**
 * The types of `config.quota`, `request.quota` and `request.charge()` for a whole program: `import
 * '@scoregw/quota-fastify/augment'`. Without it, use `quotaOf(request)` and `charge(request, transaction)`.
 *
 * @module
 */
import type { Decision } from '@scoregw/quota'
import type { RequestQuota } from '@scoregw/quota/http'
import type { QuotaRouteConfig } from './options.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation to charge for this route. */
    quota?: QuotaRouteConfig
  }
  interface FastifyRequest {
    /** The quota of a metered request. */
    quota: RequestQuota | null
    /**
     * Charges this request in the transaction of its work. Only there on routes with `inTransaction` in `config.quota`.
     *
     * @param transaction of the store's kind, such as kysely's `Transaction`
     * @returns the decision; `undefined` if the request isn't metered
     * @throws {QuotaRefusal} if it is refused: let it leave the transaction, which is then rolled back
     */
    charge(transaction: unknown): Promise<Decision | undefined>
  }
}
