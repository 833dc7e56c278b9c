import type { Counting, OneUnit } from '../policy/units.ts'
import { HttpMeter } from './http-meter.ts'
import { type HttpAdapter, type HttpMeterOptions, type HttpRequest, PLAIN, PLAIN_OPTIONS } from './options.ts'

/** Options of a meter for plain values. */
export type PlainMeterOptions<Operation extends string = string, C extends Counting = OneUnit> = Omit<
  HttpMeterOptions<HttpRequest<Operation, C>, Operation, C>,
  'subject' | 'operation' | 'cost' | 'plan' | 'limits'
>

/**
 * Makes a meter for HTTP requests: of a framework whose requests an adapter reads, or of plain values.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const meter = httpMeter({ quota })
 * const admission = await meter.admit({ method: 'POST', operation: 'write', subject: 'u42' })
 */
export function httpMeter<Operation extends string, C extends Counting = OneUnit>(
  options: PlainMeterOptions<Operation, C>,
): HttpMeter<HttpRequest<Operation, C>>
export function httpMeter<Request, Operation extends string, C extends Counting = OneUnit>(
  options: HttpMeterOptions<Request, Operation, C>,
  adapter: HttpAdapter<Request>,
): HttpMeter<Request>
export function httpMeter(options: object, adapter?: HttpAdapter<never>): HttpMeter<never> {
  if (adapter !== undefined) return new HttpMeter(options as HttpMeterOptions<never>, adapter)
  const given = { ...options, ...PLAIN_OPTIONS } as unknown as HttpMeterOptions<HttpRequest>
  return new HttpMeter(given, PLAIN) as unknown as HttpMeter<never>
}
