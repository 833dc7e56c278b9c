/**
 * The types of `req.quota` and `req.charge()` for a whole program: `import '@scoregw/quota-express/augment'`. Without
 * it, use `metered.of(req)` and `metered.charge(req, transaction)`.
 *
 * @module
 */
import type { Decision } from '@scoregw/quota'
import type { RequestQuota } from '@scoregw/quota/http'

declare global {
  // biome-ignore lint/style/noNamespace: the types of Express are extended through this namespace alone
  namespace Express {
    interface Request {
      /** The quota of a metered request. */
      quota?: RequestQuota
      /**
       * Charges this request in the transaction of its work. Only there on routes with `metered.inTransaction(name)`.
       *
       * @param transaction of the store's kind, such as kysely's `Transaction`
       * @returns the decision, `undefined` if the request isn't metered
       * @throws {QuotaRefusal} if it is refused: let it leave the transaction, which is then rolled back
       */
      charge(transaction: unknown): Promise<Decision | undefined>
    }
  }
}
