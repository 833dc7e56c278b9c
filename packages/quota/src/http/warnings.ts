import { QuotaWarning } from '../errors/quota-error.ts'
import type { QuotaLogger } from '../options/logger.ts'

/** Codes of misconfigurations that adapters detect. The warnings page explains each. */
export const QUOTA_WARNING_CODES = [
  'mounted_twice',
  'property_taken',
  'untrusted_forwarded_for',
  'permissive_trust_proxy',
  'subject_not_text',
  'unreadable_address',
  'raw_ipv6_subject',
] as const
export type QuotaWarningCode = (typeof QUOTA_WARNING_CODES)[number]

/** Which misconfigurations to detect: all, none, or all except those that are `false`. */
export type ValidateOption = boolean | Readonly<Partial<Record<QuotaWarningCode, boolean>>>

/** Logs each misconfiguration once. */
export class Warnings {
  readonly #logger: QuotaLogger
  readonly #validate: ValidateOption
  readonly #reported = new Set<QuotaWarningCode>()

  constructor(logger: QuotaLogger, validate: ValidateOption) {
    this.#logger = logger
    this.#validate = validate
  }

  warnOnce(code: QuotaWarningCode, message: string): void {
    if (!this.isOpen(code)) return
    this.#reported.add(code)
    this.#logger.warn(new QuotaWarning(code, message))
  }

  /** Whether a warning would be logged. */
  isOpen(code: QuotaWarningCode): boolean {
    return this.#looksFor(code) && !this.#reported.has(code)
  }

  #looksFor(code: QuotaWarningCode): boolean {
    return typeof this.#validate === 'boolean' ? this.#validate : (this.#validate[code] ?? true)
  }
}

/** A misconfiguration of the framework's addresses. */
export interface ProxyFault {
  readonly code: QuotaWarningCode
  readonly message: string
}

interface ForwardedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** The properties of Express' requests that show whether it trusts proxies. */
interface ExpressRequest extends ForwardedRequest {
  readonly app: { get(name: string): unknown }
}

/** Finds a wrong `trust proxy` of Express, also below Nest. */
export function expressProxyFault(req: ExpressRequest): ProxyFault | undefined {
  const trusted = req.app.get('trust proxy')
  if (trusted === true) {
    const message = "'trust proxy' is true: any client can choose its address; name the proxies or their number"
    return { code: 'permissive_trust_proxy', message }
  }
  if (trusted !== false || req.headers['x-forwarded-for'] === undefined) return undefined
  const message =
    "requests have X-Forwarded-For, but 'trust proxy' is false: behind a proxy all callers share its address"
  return { code: 'untrusted_forwarded_for', message }
}

/** The properties of Fastify's requests that show whether it trusts proxies. */
interface FastifyRequest extends ForwardedRequest {
  readonly ips?: readonly string[] | undefined
  readonly server: object
}

/** Finds a wrong `trustProxy` of Fastify, also below Nest. */
export function fastifyProxyFault(request: FastifyRequest): ProxyFault | undefined {
  const { headers, ips } = request
  // Fastify sets `ips` only with `trustProxy`.
  if (ips === undefined) {
    if (headers['x-forwarded-for'] === undefined) return undefined
    const message =
      'requests have X-Forwarded-For, but trustProxy is not set: behind a proxy all callers share its address'
    return { code: 'untrusted_forwarded_for', message }
  }
  if (headers['x-forwarded-for'] !== undefined && ips.length === 1 && isPrivate(ips[0])) {
    const message = `requests from ${ips[0] || 'a socket'} have X-Forwarded-For, but trustProxy doesn't trust it, so all its callers share its address: name the proxies by their addresses; since Fastify 5.12.1, a number trusts nobody`
    return { code: 'untrusted_forwarded_for', message }
  }
  if (!trustsEverybody(request)) return undefined
  const message = 'trustProxy is true: any client can choose its address; name the proxies by their addresses'
  return { code: 'permissive_trust_proxy', message }
}

/** Whether a peer is of this machine or a private network, and so most likely a proxy. */
function isPrivate(address: string | undefined): boolean {
  return !address || PRIVATE.test(address)
}

const PRIVATE = /^(?:::ffff:)?(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)|^::1$|^f[cd]/i

/** Results by server. */
const trusting = new WeakMap<object, boolean>()

/** More proxies than any real chain has. Their network is reserved for documentation. */
const STRANGERS = Array.from({ length: 100 }, (_, index) => `203.0.113.${index + 1}`)

/** Whether an untrusted client could make up its address. Fastify has no other way to find out. */
function trustsEverybody(request: FastifyRequest): boolean {
  const known = trusting.get(request.server)
  if (known !== undefined) return known
  const [socket, ...forwarded] = STRANGERS
  const raw = {
    headers: { 'x-forwarded-for': forwarded.join(', ') },
    socket: { remoteAddress: socket },
    connection: { remoteAddress: socket },
  }
  const asked = Object.create(request, { raw: { value: raw } }) as FastifyRequest
  const isTrusting = asked.ips?.length === STRANGERS.length
  trusting.set(request.server, isTrusting)
  return isTrusting
}
