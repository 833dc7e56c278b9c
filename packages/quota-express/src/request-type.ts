import type { Decision } from '@scoregw/quota'
import type { RequestQuota } from '@scoregw/quota/http'

/**
 * The type of a `Request` property, if you set `requestPropertyName` to anything but `quota`.
 *
 * @example
 * declare global {
 *   namespace Express {
 *     interface Request extends RequestQuotaProperty<'limits'> {}
 *   }
 * }
 */
export type RequestQuotaProperty<Name extends string> = { [K in Name]?: RequestQuota }

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
