import type { Exchange } from '../exchange.ts'
import type { AdmittedRequest } from '../http-meter.ts'
import type { QuotaLogger } from '../warnings.ts'
import type { NodeRequest, NodeResponse } from './node-response.ts'
import { ResponseGate } from './response-gate.ts'

type WriteHead = (status: unknown, reason: unknown, headers: unknown) => unknown

/** Where a response keeps its watch: one for all of its quotas. */
const WATCH: unique symbol = Symbol.for('@scoregw/quota/http/node') as never

interface Watched {
  [WATCH]?: ResponseWatch
}

/** What the framework is like whose response is watched. */
export interface WatchDetails {
  /**
   * Whether objects of fields that `writeHead` is given are the framework's own, so that fields may be put there, which
   * costs less than to set them.
   * @default false
   */
  readonly ownsHeads?: boolean | undefined
}

const NO_DETAILS: WatchDetails = {}

/**
 * Settles what was admitted by the response that Node's server writes, in whichever way it is written, and sets the
 * fields of the draft. The head is fixed first, so that a status Node refuses is never judged, then settled, and only
 * then sent.
 */
export function watchResponse(
  { quota, exchange, options }: AdmittedRequest,
  req: NodeRequest,
  res: NodeResponse,
  details: WatchDetails = NO_DETAILS,
): void {
  if (!quota.watches) return
  const holder = res as unknown as Watched
  let watch = holder[WATCH]
  if (watch === undefined) {
    watch = new ResponseWatch(req, res, exchange, details.ownsHeads === true)
    holder[WATCH] = watch
  }
  if (!options.quota.sync || quota.settlesAtEnd) watch.guard(options.logger)
  if (quota.settlesAtEnd) watch.settleAtClose()
}

class ResponseWatch {
  /** What the response is written by beneath this watch. */
  readonly writeHead: WriteHead
  readonly #req: NodeRequest
  readonly #res: NodeResponse
  readonly #exchange: Exchange
  readonly #ownsHeads: boolean
  #gate: ResponseGate | undefined
  #closes = false

  constructor(req: NodeRequest, res: NodeResponse, exchange: Exchange, ownsHeads: boolean) {
    this.#req = req
    this.#res = res
    this.#exchange = exchange
    this.#ownsHeads = ownsHeads
    this.writeHead = res.writeHead as WriteHead
    // One function for every response: a closure for each would be made anew with each request.
    res.writeHead = watchedWriteHead as NodeResponse['writeHead']
  }

  /** Where settling may take its time, bytes wait for it. */
  guard(logger: QuotaLogger): void {
    this.#gate ??= new ResponseGate(this.#res, this.#req.method, {
      holdsBack: (status) => this.#exchange.holdsBack(status, this.#isHungUp()),
      ending: () => this.#end(),
      failed: (error) => logger.error(error),
    })
  }

  /** A response that is broken off is over too: then settles what its end would have settled. */
  settleAtClose(): void {
    if (this.#closes) return
    this.#closes = true
    // Those who listen as well come first: a handler that hears of it may still say what its work has cost.
    const settle = (): void => void setTimeout(() => void this.#exchange.end(), 0)
    if (this.#res.destroyed) settle()
    else this.#res.once('close', settle)
  }

  #end(): Promise<void> | undefined {
    const { statusCode, headersSent } = this.#res
    if (!headersSent) this.#exchange.judge(statusCode, this.#isHungUp())
    return this.#exchange.end()
  }

  write(status: unknown, reason: unknown, headers: unknown): unknown {
    const res = this.#res
    if (res.headersSent) return this.writeHead.call(res, status, reason, headers)
    const isHungUp = this.#isHungUp()
    this.#setFields(typeof status === 'number' ? status : res.statusCode, isHungUp, headers ?? reason)
    this.writeHead.call(res, status, reason, headers)
    const pending = this.#exchange.settle(res.statusCode, isHungUp)
    if (pending !== undefined) this.#gate?.hold(pending)
    return res
  }

  #setFields(status: number, isHungUp: boolean, head: unknown): void {
    const res = this.#res
    if (this.#ownsHeads && isFields(head)) {
      const fields = this.#exchange.fieldsFor(status, isHungUp, (name) => head[LOWER[name]]?.toString())
      if (fields === undefined) return
      head[LOWER['RateLimit-Policy']] = fields.policy
      head[LOWER.RateLimit] = fields.limit
      return
    }
    const fields = this.#exchange.fieldsFor(status, isHungUp, (name) => res.getHeader(name)?.toString())
    if (fields === undefined) return
    res.setHeader('RateLimit-Policy', fields.policy)
    res.setHeader('RateLimit', fields.limit)
  }

  #isHungUp(): boolean {
    return this.#res.destroyed || this.#req.socket.writable === false
  }
}

/** `writeHead` of a watched response; its arguments are named one by one, since an array for them would be made for each head. */
function watchedWriteHead(this: Watched, status: unknown, reason: unknown, headers: unknown): unknown {
  return this[WATCH]!.write(status, reason, headers)
}

/** Names as a framework has them that writes all names in small letters. */
const LOWER = { 'RateLimit-Policy': 'ratelimit-policy', RateLimit: 'ratelimit' } as const

function isFields(head: unknown): head is Record<string, string | number | readonly string[] | undefined> {
  return typeof head === 'object' && head !== null && !Array.isArray(head)
}
