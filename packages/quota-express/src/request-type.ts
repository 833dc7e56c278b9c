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
